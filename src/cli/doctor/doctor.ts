import type { ServerFlags, ServerSettings } from "../../gateway/environment.ts";
import { asWaybillError } from "../../kernel/errors.ts";
import { prepare } from "../prepare.ts";
import { wrapText } from "../table.ts";
import { columns, paint, print, printJson } from "../terminal.ts";
import { checkDataFolder, checkNode, checkPort, checkToken } from "./check-machine.ts";
import { checkDotEnv, checkSettingsFile } from "./check-settings-file.ts";
import { checkStore } from "./check-store.ts";
import { fail, type Finding } from "./check.ts";

export interface DoctorFlags extends ServerFlags {
  json?: boolean;
}

/** Makes every check, says what was found, and sets the exit code 1 if something would fail. */
export async function doctor(flags: DoctorFlags): Promise<void> {
  const findings = [checkNode(), ...(await checkHere(flags))];
  const failed = findings.filter(({ result }) => result === "fail").length;
  const warned = findings.filter(({ result }) => result === "warn").length;
  if (failed > 0) process.exitCode = 1;
  if (flags.json) printJson({ ok: failed === 0, failed, warned, findings });
  else print([...findings.flatMap(lines), "", verdict(failed, warned)]);
}

async function checkHere(flags: DoctorFlags): Promise<Finding[]> {
  let settings: ServerSettings;
  try {
    settings = prepare(flags);
  } catch (thrown) {
    return [
      fail("environment", asWaybillError(thrown).message, "Correct the flags and variables that are named."),
    ];
  }
  return [
    ...(await checkSettingsFile(settings)),
    ...checkDataFolder(settings),
    ...(await checkStore(settings)),
    await checkPort(settings),
    checkToken(settings),
    ...checkDotEnv(process.cwd()),
  ];
}

const marks = { ok: ["green", "ok  "], warn: ["yellow", "warn"], fail: ["red", "fail"] } as const;

function lines({ check, result, text, todo }: Finding): string[] {
  const [colour, mark] = marks[result];
  const left = 19;
  const wrapped = text.split("\n").flatMap((line) => wrapText(line, columns() - left));
  const [first = "", ...rest] = wrapped;
  const indent = " ".repeat(left);
  return [
    `${paint(colour, mark)}  ${check.padEnd(left - 6)}${first}`,
    ...rest.map((line) => indent + line),
    ...(todo === null
      ? []
      : wrapText(`-> ${todo}`, columns() - left).map((line) => indent + paint("bold", line))),
  ];
}

function verdict(failed: number, warned: number): string {
  const warnings = warned === 0 ? "" : ` ${warned} warning${warned === 1 ? "" : "s"}.`;
  if (failed === 0) return `A gateway can work here.${warnings}`;
  return `${failed} check${failed === 1 ? "" : "s"} failed.${warnings}`;
}
