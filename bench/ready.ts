import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atMost, median, report } from "./support/figures.ts";

/** From starting the process to the line that says it is ready: an empty folder, no settings, no key. */
const launcher = fileURLToPath(new URL("../bin/waybill.js", import.meta.url));

async function ready(): Promise<number> {
  const cwd = mkdtempSync(join(tmpdir(), "waybill-ready-"));
  const from = performance.now();
  const child = spawn(process.execPath, [launcher, "start", "--port", "0"], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const chunk of child.stdout) {
    if (String(chunk).includes("Waybill is ready")) break;
  }
  const spent = performance.now() - from;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
  rmSync(cwd, { recursive: true, force: true });
  return spent;
}

const times: number[] = [];
for (let i = 0; i < 5; i += 1) times.push(await ready());
report([atMost("ready after the start of the process", median(times) / 1_000, 2, "s")]);
process.exit(0);
