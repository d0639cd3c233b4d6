import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Where the gateway of a data folder listens, so that commands in the same folder find it on any port. */
export interface Served {
  url: string;
  pid: number;
}

const shape = z.object({ url: z.url({ protocol: /^http$/ }), pid: z.int().positive() });

function fileOf(dataDir: string): string {
  return join(dataDir, "server.json");
}

/** Leaves the note. Without it commands need `--url`, so a folder that cannot be written is no error here. */
export function writeServed(dataDir: string, served: Served): void {
  try {
    writeFileSync(fileOf(dataDir), `${JSON.stringify(served)}\n`, { mode: 0o600 });
  } catch {
    // With a store elsewhere there may be no data folder.
  }
}

/** Takes the note away, unless another process has put its own there. */
export function removeServed(dataDir: string, pid: number): void {
  if (readServed(dataDir)?.pid === pid) rmSync(fileOf(dataDir), { force: true });
}

/** The note of a data folder, if the process that left it is alive. */
export function readServed(dataDir: string): Served | null {
  try {
    const served = shape.parse(JSON.parse(readFileSync(fileOf(dataDir), "utf8")));
    return isAlive(served.pid) ? served : null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: it lives, and belongs to somebody else.
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}
