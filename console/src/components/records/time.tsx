import { useSyncExternalStore } from "react";
import { ageText } from "../../../../src/texts/age.ts";
import type { Locale } from "../../../../src/texts/render.ts";
import { useLanguage } from "../../app/language.tsx";
import { fullTimeText, serverNow } from "../../data/time.ts";

const hearers = new Set<() => void>();
let ticks = 0;
let timer: ReturnType<typeof setInterval> | null = null;

function tick(): void {
  ticks += 1;
  for (const hear of hearers) hear();
}

/** One clock for all ages of this window; it stands still while nobody shows one. */
function subscribe(hear: () => void): () => void {
  hearers.add(hear);
  timer ??= setInterval(tick, 1_000);
  return () => {
    hearers.delete(hear);
    if (hearers.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

const still = (): (() => void) => () => {};

/** Now by the server's clock, once a second while `moving`. */
export function useNow(moving = true): number {
  useSyncExternalStore(moving ? subscribe : still, () => ticks);
  return serverNow();
}

/** How long ago something was, in words; the exact time when pointed at. */
export function Age({ at }: { at: string }) {
  const { locale } = useLanguage();
  const now = useNow();
  return (
    <time dateTime={at} title={fullTimeText(locale, at)}>
      {ageText(locale, now - Date.parse(at))}
    </time>
  );
}

const clocks = new Map<Locale, Intl.DateTimeFormat>();

/** The time of day with seconds, since a timeline is about seconds. */
export function clockText(locale: Locale, at: string): string {
  let format = clocks.get(locale);
  if (!format) {
    const region = navigator.languages.find((tag) => tag.toLowerCase().startsWith(locale));
    format = new Intl.DateTimeFormat(region ?? locale, { timeStyle: "medium" });
    clocks.set(locale, format);
  }
  return format.format(new Date(at));
}

export function Clock({ at }: { at: string }) {
  const { locale } = useLanguage();
  return (
    <time dateTime={at} title={fullTimeText(locale, at)}>
      {clockText(locale, at)}
    </time>
  );
}

/** A span as people say it: "40 ms", "3.2 sec", then as an age. */
export function spanText(locale: Locale, ms: number): string {
  const span = Math.max(0, ms);
  if (span >= 60_000) return ageText(locale, span);
  const inSeconds = span >= 1_000;
  return new Intl.NumberFormat(locale, {
    style: "unit",
    unit: inSeconds ? "second" : "millisecond",
    unitDisplay: "short",
    maximumFractionDigits: inSeconds && span < 10_000 ? 1 : 0,
  }).format(inSeconds ? span / 1_000 : span);
}
