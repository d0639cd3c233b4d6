import { CommanderError } from "commander";
import { asWaybillError, exitCodeOf, toErrorRecord, type WaybillError } from "../kernel/errors.ts";

/** True if machine-readable output was asked for, wherever the flag stands. */
export function wantsJson(argv: readonly string[] = process.argv): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}

/** Says what went wrong on standard error and sets the exit code of the error's family. */
export function fail(thrown: unknown): void {
  if (thrown instanceof CommanderError) {
    // commander has said it already. 0: help or version was asked for; else the input was wrong.
    process.exitCode = thrown.exitCode === 0 ? 0 : 2;
    return;
  }
  const error = asWaybillError(thrown);
  process.exitCode = exitCodeOf(error.code);
  process.stderr.write(errorText(error, wantsJson()));
}

/** `waybill: <message> (code)`, or one JSON document. */
export function errorText(error: WaybillError, json: boolean): string {
  if (json) return `${JSON.stringify(toErrorRecord(error))}\n`;
  const cause = error.code === "internal" && error.cause instanceof Error ? `\n${error.cause.stack}` : "";
  const [first = "", ...rest] = error.message.split("\n");
  return `waybill: ${first} [${error.code}]${rest.map((line) => `\n${line}`).join("")}${cause}\n`;
}
