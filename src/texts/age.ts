import type { Locale } from "./render.ts";

const units = [
  { ms: 86_400_000, en: "day", ko: "일" },
  { ms: 3_600_000, en: "hour", ko: "시간" },
  { ms: 60_000, en: "minute", ko: "분" },
  { ms: 1_000, en: "second", ko: "초" },
] as const;

/**
 * A span of time in words, rounded down: "3 minutes", "1 hour 20 minutes", "2 days"; "3분", "1시간 20분", "2일".
 * From an hour on the next smaller unit is added if it is not 0. The least is one second, also for a span below 0
 * (clocks of two machines differ).
 */
export function ageText(locale: Locale, ms: number): string {
  const span = Math.max(1_000, Number.isFinite(ms) ? ms : 0);
  const index = units.findIndex((unit) => span >= unit.ms);
  const unit = units[index];
  if (!unit) throw new RangeError("No unit of time fits.");
  const amount = Math.floor(span / unit.ms);
  const whole = amountText(locale, unit, amount);
  const next = units[index + 1];
  if (unit.ms < 3_600_000 || !next) return whole;
  const rest = Math.floor((span - amount * unit.ms) / next.ms);
  return rest === 0 ? whole : `${whole} ${amountText(locale, next, rest)}`;
}

function amountText(locale: Locale, unit: (typeof units)[number], amount: number): string {
  if (locale === "ko") return `${amount}${unit.ko}`;
  return `${amount} ${unit.en}${amount === 1 ? "" : "s"}`;
}
