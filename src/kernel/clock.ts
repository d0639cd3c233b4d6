/**
 * Time, as a parameter. `now` is milliseconds since 1970 (UTC), `after` calls back once and returns how to
 * take that back. Timers never keep the process alive.
 */
export interface Clock {
  now(): number;
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    // Node fires a timer over 2^31-1 ms at once; a deadline that far away is as good as none.
    const timer = setTimeout(callback, Math.min(Math.max(0, ms), 2_147_483_647));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A clock that a test moves by hand. `advance` fires what became due, in order of time. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(start = 1_700_000_000_000): ManualClock {
  let now = start;
  let timers: { at: number; callback: () => void }[] = [];
  return {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((t) => t !== timer);
      };
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = timers.filter((t) => t.at <= end).toSorted((a, b) => a.at - b.at);
        if (!next) break;
        timers = timers.filter((t) => t !== next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = end;
    },
  };
}
