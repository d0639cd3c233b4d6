/**
 * Named places where a test can end the process. Each lies between two steps whose order matters; in production
 * the function does nothing. The names are listed once, so that the crash suite proves it visits them all.
 */
export const crashPoints = [
  "accept:before-commit",
  "accept:after-commit",
  "claim:before-commit",
  "claim:after-commit",
  "run:before-finish",
  "finish:before-commit",
  "finish:after-commit",
  "stream:before-close",
  "send:claimed",
  "send:before-request",
  "send:after-request",
  "receipt:before-commit",
  "receipt:after-commit",
  "reap:before-commit",
  "reap:after-commit",
] as const;

export type CrashPoint = (typeof crashPoints)[number];

export type ReachCrashPoint = (point: CrashPoint) => void;

export const noCrash: ReachCrashPoint = () => {};

/** Ends the process with SIGKILL when `point` is reached for the `nth` time (1 is the first). Plain data, since it crosses threads. */
export interface CrashPlan {
  point: CrashPoint;
  nth: number;
}

export function killAt(plan: CrashPlan): ReachCrashPoint {
  let reached = 0;
  return (point) => {
    if (point !== plan.point) return;
    reached += 1;
    if (reached === plan.nth) process.kill(process.pid, "SIGKILL");
  };
}
