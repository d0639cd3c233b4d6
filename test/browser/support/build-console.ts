/** Once before the browser tests: the console is built if its sources have changed since the last time. */
import path from "node:path";
import { runNode } from "../../../scripts/support/run.ts";
import { root } from "../../../scripts/support/paths.ts";

export default async function buildConsole(): Promise<void> {
  const { code, output } = await runNode([path.join(root, "scripts/build-console.ts"), "--if-stale"], {
    cwd: root,
    show: false,
  });
  if (code !== 0 || output.includes("could not be built"))
    throw new Error(`The console could not be built:\n${output}`);
}
