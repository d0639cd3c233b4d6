import type { Locale } from "../../../src/texts/render.ts";

/** The server's clock minus ours, in milliseconds, from the `Date` of its last answer. */
let skew = 0;

/** Takes the server's time from an answer. A `Date` has whole seconds, so a small difference is none. */
export function noteServerDate(response: Response): void {
  const date = Date.parse(response.headers.get("date") ?? "");
  if (!Number.isFinite(date)) return;
  const difference = date - Date.now();
  skew = Math.abs(difference) < 3_000 ? 0 : difference;
}

/** Now by the server's clock: ages are right although this machine's clock is not. */
export function serverNow(): number {
  return Date.now() + skew;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(locale: Locale, name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${name}`;
  let found = formats.get(key);
  if (!found) {
    // The reader's own region decides about 24 hours and the order of a date, where it speaks our language.
    const region = navigator.languages.find((tag) => tag.toLowerCase().startsWith(locale));
    found = new Intl.DateTimeFormat(region ?? locale, options);
    formats.set(key, found);
  }
  return found;
}

export function timeText(locale: Locale, at: string): string {
  return format(locale, "time", { hour: "numeric", minute: "2-digit" }).format(new Date(at));
}

export function fullTimeText(locale: Locale, at: string): string {
  return format(locale, "full", { dateStyle: "full", timeStyle: "medium" }).format(new Date(at));
}

/** The day in the reader's time zone, as a key to compare. */
export function dayOf(at: string | number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;
}

/** "Today", "Yesterday", else the date. */
export function dayText(locale: Locale, at: string): string {
  const now = serverNow();
  const day = dayOf(at);
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  if (day === dayOf(now)) return capital(relative.format(0, "day"));
  if (day === dayOf(now - 86_400_000)) return capital(relative.format(-1, "day"));
  const thisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return format(locale, thisYear ? "day" : "day-year", {
    weekday: "long",
    month: "long",
    day: "numeric",
    ...(thisYear ? {} : { year: "numeric" }),
  }).format(new Date(at));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
