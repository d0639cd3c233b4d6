/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}

/** 0.5 s, 1 s, 2 s, ... at most 8 s, each somewhat shortened so that windows do not come all at once. */
export function backoff(failures: number): number {
  return Math.min(8_000, 500 * 2 ** failures) * (0.75 + Math.random() * 0.25);
}

/** Aborts when this window is hidden; a hidden window gives its connections to those that are looked at. */
export function untilHidden(outer: AbortSignal): { signal: AbortSignal; stop(): void } {
  const hidden = new AbortController();
  const onChange = (): void => {
    if (document.visibilityState === "hidden") hidden.abort();
  };
  document.addEventListener("visibilitychange", onChange);
  onChange();
  return {
    signal: AbortSignal.any([outer, hidden.signal]),
    stop: () => document.removeEventListener("visibilitychange", onChange),
  };
}

/** Resolves when this window is looked at, or the signal aborts. */
export function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (document.visibilityState === "hidden" && !signal.aborted) return;
      document.removeEventListener("visibilitychange", check);
      signal.removeEventListener("abort", check);
      resolve();
    };
    document.addEventListener("visibilitychange", check);
    signal.addEventListener("abort", check);
    check();
  });
}
