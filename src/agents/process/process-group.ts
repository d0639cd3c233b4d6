import type { ChildProcess } from "node:child_process";

/**
 * A child is the leader of a process group of its own (`detached`), and signals go to the whole group: what it started
 * goes with it. Windows has no groups; there only the child itself is signalled.
 */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // ESRCH: nobody is left in it. EPERM: only what gave up our user is left, and that is not ours to end.
  }
}

/** All children that live, for the end of this process by whatever way still runs code. */
const living = new Set<ChildProcess>();

function endAll(): void {
  for (const child of living) signalGroup(child, "SIGKILL");
}

/** Ends the child's group when this process exits without having stopped it. @returns what takes that back */
export function endWithUs(child: ChildProcess): () => void {
  if (living.size === 0) process.on("exit", endAll);
  living.add(child);
  return () => {
    living.delete(child);
    if (living.size === 0) process.off("exit", endAll);
  };
}
