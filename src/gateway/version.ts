import { readFileSync } from "node:fs";

/** The version of this package, from its package.json, which lies two folders above in the sources and in dist. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;
