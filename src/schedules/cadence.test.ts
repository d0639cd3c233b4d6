import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronProblem, nextTime, timeZoneProblem } from "./cadence.ts";

/** The times of a pattern after `from`, as ISO texts. */
function times(cron: string, timeZone: string, from: string, count: number): string[] {
  const found: string[] = [];
  let at = Date.parse(from);
  while (found.length < count) {
    at = nextTime({ cron, timeZone }, at) ?? Number.NaN;
    found.push(new Date(at).toISOString().replace(":00.000Z", ""));
  }
  return found;
}

describe("the times of a pattern are those of its clocks", () => {
  test("a time of day stays over a change of the clocks", () => {
    expect(times("0 9 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3)).toEqual([
      "2026-03-28T08:00",
      "2026-03-29T07:00",
      "2026-03-30T07:00",
    ]);
  });

  test("one that the clocks leave out comes once, right after the gap", () => {
    expect(times("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
  });

  test("one that comes twice comes once", () => {
    expect(times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
  });

  test("a rhythm goes on through both", () => {
    expect(times("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:15:00Z", 3)).toEqual([
      "2026-03-29T00:30",
      "2026-03-29T01:00",
      "2026-03-29T01:30",
    ]);
    expect(times("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:15:00Z", 4)).toEqual([
      "2026-10-25T00:30",
      "2026-10-25T01:00",
      "2026-10-25T01:30",
      "2026-10-25T02:00",
    ]);
  });
});

const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Seoul", "Australia/Lord_Howe");
const moment = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2030, 0, 1) });

test("the next time is after now, reads so on the zone's clocks, and none is left out", () => {
  const minute = fc.integer({ min: 0, max: 59 });
  fc.assert(
    fc.property(minute, zone, moment, (at, timeZone, now) => {
      const next = nextTime({ cron: `${at} * * * *`, timeZone }, now) ?? 0;
      expect(next).toBeGreaterThan(now);
      // Where clocks change by half an hour, a minute of an hour may be half an hour further away.
      expect(next - now).toBeLessThanOrEqual(90 * 60_000);
      const shown = new Intl.DateTimeFormat("en", { timeZone, minute: "numeric" }).format(next);
      expect(Number(shown)).toBe(at);
      // Asked from anywhere before it, the answer is the same.
      expect(nextTime({ cron: `${at} * * * *`, timeZone }, next - 1)).toBe(next);
    }),
    { numRuns: 300 },
  );
});

test("a time of day comes once a day by the zone's calendar, whatever the clocks do", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 23 }), zone, moment, (hour, timeZone, now) => {
      const cadence = { cron: `0 ${hour} * * *`, timeZone };
      const day = new Intl.DateTimeFormat("en-CA", { timeZone });
      let at = nextTime(cadence, now) ?? 0;
      const days = new Set([day.format(at)]);
      for (let n = 1; n < 10; n += 1) {
        at = nextTime(cadence, at) ?? 0;
        days.add(day.format(at));
      }
      expect(days.size).toBe(10);
    }),
    { numRuns: 100 },
  );
});

test.each([
  ["", "is no cron pattern"],
  ["nope", "is no cron pattern"],
  ["* * *", "is no cron pattern"],
  ["0 0 1 1 * 2027 *", "is no cron pattern"],
  ["61 * * * *", "minute"],
  ["? * * * *", '"?"'],
  ["0 0 31 2 *", "never comes"],
  ["2027-01-01T00:00:00", "is no cron pattern"],
  ["@never", "is no cron pattern"],
])("%j is refused", (cron, said) => {
  expect(cronProblem(cron, "UTC")).toContain(said);
});

test.each(["0 9 * * 1-5", "*/10 * * * * *", "@hourly", "0 0 29 2 *", " 0 9 * * MON "])(
  "%j is taken",
  (cron) => {
    expect(cronProblem(cron, "Asia/Seoul")).toBeNull();
  },
);

test("a time zone is a name of the IANA database", () => {
  for (const name of ["UTC", "Europe/Berlin", "Asia/Seoul"]) expect(timeZoneProblem(name)).toBeNull();
  for (const name of ["", "Mars/Olympus", "+01:00", "Berlin", "../etc"]) {
    expect(timeZoneProblem(name)).toContain("is no time zone");
  }
});
