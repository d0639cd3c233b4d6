import type { Clock } from "../kernel/clock.ts";
import { WaybillError } from "../kernel/errors.ts";

/** Callers that are remembered at most; with more, those that have waited longest to ask again begin anew. */
const callersMost = 10_000;

/**
 * A bucket for each caller: `perMinute` requests at once, filled again evenly over a minute.
 * @returns a function that counts a request, and throws WaybillError `rate_limited` with `retryAfter` in seconds
 */
export function rateLimit(perMinute: number, clock: Clock): (caller: string) => void {
  const buckets = new Map<string, { left: number; at: number }>();
  const msEach = 60_000 / perMinute;
  return (caller) => {
    const now = clock.now();
    const bucket = buckets.get(caller) ?? { left: perMinute, at: now };
    // A clock that was set back must not empty a bucket for as long as it was set back.
    const left = Math.min(perMinute, bucket.left + Math.max(0, now - bucket.at) / msEach);
    // Set anew, so that the map's order is that of the last request.
    buckets.delete(caller);
    buckets.set(caller, { left: left < 1 ? left : left - 1, at: now });
    if (buckets.size > callersMost) {
      const [oldest] = buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
    }
    if (left >= 1) return;
    const retryAfter = Math.max(1, Math.ceil(((1 - left) * msEach) / 1_000));
    throw new WaybillError(
      "rate_limited",
      `More than ${perMinute} requests a minute came from one place; wait ${retryAfter} s.`,
      { retryAfter, perMinute },
    );
  };
}
