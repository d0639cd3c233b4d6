import { Cron } from "croner";

/** When something comes by the clock: cron in the clocks of a time zone. */
export interface Cadence {
  /** Five parts (minute, hour, day, month, weekday), six with seconds before them, or `@hourly` and its like. */
  cron: string;
  /** An IANA name, such as `Europe/Berlin`. */
  timeZone: string;
}

export const defaultTimeZone = "UTC";

/** Far enough for any pattern that comes at all: 29 February on a certain weekday comes every 28 years. */
const example = Date.UTC(2026, 0, 1);

/** Why a text is no time zone, or null. */
export function timeZoneProblem(timeZone: string): string | null {
  try {
    // An offset such as +01:00 is taken by it too, but knows no summer time; who writes a place means its clocks.
    new Intl.DateTimeFormat("en", { timeZone });
    if (/^[A-Za-z]/.test(timeZone)) return null;
  } catch {
    // Said below.
  }
  return 'is no time zone. Write an IANA name, such as "Europe/Berlin" or "UTC".';
}

/** Why a text is no cron pattern, or comes never, or null. */
export function cronProblem(cron: string, timeZone: string): string | null {
  const parts = cron.trim().split(/\s+/);
  const form = 'Write five parts, such as "0 9 * * 1-5" (minute, hour, day, month, weekday), or "@hourly".';
  if (!/^@[a-z]+$/i.test(cron.trim()) && parts.length !== 5 && parts.length !== 6) {
    return `is no cron pattern. ${form}`;
  }
  // Croner puts the time of its reading in place of it, so each node would have a time of its own.
  if (cron.includes("?")) return `has a "?", which stands for no fixed time. ${form}`;
  try {
    if (nextTime({ cron, timeZone }, example) !== null) return null;
  } catch (error) {
    const said = String((error as Error).message).replace(/^CronPattern: /, "");
    return `is no cron pattern: ${said.replace(/[.]?$/, ".")} ${form}`;
  }
  return "never comes: no year has such a day.";
}

/**
 * The first time after `after`, in milliseconds since 1970; null if there is none. A time of day that a change of the
 * clocks leaves out comes at the first minute after the gap, and one that comes twice comes once; a pattern that comes
 * several times a day keeps its rhythm (croner's rules for fixed times and intervals).
 */
export function nextTime({ cron, timeZone }: Cadence, after: number): number | null {
  const pattern = new Cron(cron.trim(), { timezone: timeZone, mode: "5-or-6-parts", paused: true });
  return pattern.nextRun(new Date(after))?.getTime() ?? null;
}
