import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const launcher = path.resolve(import.meta.dirname, "../../bin/waybill.js");

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command line tool in an empty folder, or one with a settings file, and without variables of the caller's own. */
export async function waybill(
  args: readonly string[],
  options: { config?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  const cwd = await mkdtemp(path.join(tmpdir(), "waybill-command-"));
  try {
    if (options.config !== undefined) await writeFile(path.join(cwd, "waybill.config.ts"), options.config);
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith("WAYBILL_"));
    const env = { ...Object.fromEntries(own), ...options.env };
    return await new Promise((resolve) => {
      execFile(process.execPath, [launcher, ...args], { cwd, env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      });
    });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}
