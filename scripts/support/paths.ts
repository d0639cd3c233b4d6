import { readFileSync } from "node:fs";
import path from "node:path";

/** The root of the checkout. */
export const root = path.resolve(import.meta.dirname, "../..");

/**
 * The script behind a package's command, to be run by the Node that runs us: no shell, no wrapper process, and
 * never whichever Node happens to come first in PATH.
 */
export function binary(packageName: string, command: string): string {
  const folder = path.join(root, "node_modules", packageName);
  const { bin } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
    bin: string | Record<string, string>;
  };
  const relative = typeof bin === "string" ? bin : bin[command];
  if (relative === undefined) throw new Error(`The package ${packageName} has no command ${command}.`);
  return path.join(folder, relative);
}
