import type { Clock } from "./clock.ts";

/** Resolves after so many milliseconds, or as soon as the signal aborts. */
export function pause(clock: Clock, ms: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      stopped.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    stopped.addEventListener("abort", end);
    if (stopped.aborted) end();
  });
}
