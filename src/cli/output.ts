import { CommanderError } from "commander";
import { asWaybillError, exitCodeOf, toErrorRecord, WaybillError } from "../kernel/errors.ts";

/** True if machine-readable output was asked for, wherever the flag stands. */
export function wantsJson(argv: readonly string[] = process.argv): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}

/** Says what went wrong on standard error and sets the exit code of the error's family. */
export function fail(thrown: unknown): void {
  if (thrown instanceof CommanderError && (thrown.exitCode === 0 || thrown.code === "commander.help")) {
    // Help or version was asked for and printed; or a group of commands was named without one of them.
    process.exitCode = thrown.exitCode === 0 ? 0 : 2;
    return;
  }
  const error = thrown instanceof CommanderError ? wrongUse(thrown) : asWaybillError(thrown);
  process.exitCode = exitCodeOf(error.code);
  process.stderr.write(errorText(error, wantsJson()));
}

/** What commander refused: an unknown command or option, an argument that is missing. */
function wrongUse({ message }: CommanderError): WaybillError {
  const text = message.replace(/^error: /, "").replace(/\n\(Did you mean (.*)\?\)$/s, ". Did you mean $1?");
  return new WaybillError(
    "invalid_request",
    `${text.replace(/[^.?]$/, "$&.")} waybill --help lists the commands.`,
  );
}

/** `waybill: <message> (code)`, or one JSON document. */
export function errorText(error: WaybillError, json: boolean): string {
  if (json) return `${JSON.stringify(toErrorRecord(error))}\n`;
  const cause = error.code === "internal" && error.cause instanceof Error ? `\n${error.cause.stack}` : "";
  const [first = "", ...rest] = error.message.split("\n");
  return `waybill: ${first} [${error.code}]${rest.map((line) => `\n${line}`).join("")}${cause}\n`;
}
