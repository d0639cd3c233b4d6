import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { WaybillError } from "../kernel/errors.ts";
import { redact } from "../kernel/redact.ts";

interface Spot {
  file: string;
  line: number;
  column: number | null;
}

/**
 * What a settings file threw while it was loaded, as an error that shows where. `last` is the file that was read last.
 * @returns `config_syntax` with file, line, column and the line's text; `missing_package`; else `config_invalid`
 */
export function configError(
  thrown: unknown,
  configFile: string,
  last: string | null,
  cwd: string,
): WaybillError {
  if (thrown instanceof WaybillError) return atConfig(thrown, configFile, cwd);
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (error instanceof SyntaxError) {
    const spot = spotInArrow(error.stack ?? "") ?? (last === null ? null : parseAgain(last));
    return syntaxError(error, spot ?? { file: last ?? configFile, line: 0, column: null }, cwd);
  }
  const missing = /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
  const where = last ?? configFile;
  if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND" && missing !== undefined) {
    return new WaybillError(
      "missing_package",
      `${shown(where, cwd)} imports the package ${missing}, which is not installed: npm install ${missing}`,
      { package: missing, file: where },
      error,
    );
  }
  const spot = spotInFrames(error.stack ?? "");
  const message = redact(error.message.split("\n", 1)[0] ?? "");
  return new WaybillError(
    "config_invalid",
    `${place(spot ?? { file: configFile, line: 0, column: null }, cwd)}: the settings threw ${error.name}: ${message}` +
      excerpt(spot),
    { ...(spot ?? { file: configFile }), cause: message },
    error,
  );
}

/** An error of ours that a settings file met (an agent's bad option, say) keeps its code and gains the place. */
function atConfig(error: WaybillError, configFile: string, cwd: string): WaybillError {
  const spot = spotInFrames(error.stack ?? "") ?? { file: configFile, line: 0, column: null };
  return new WaybillError(
    error.code,
    `${place(spot, cwd)}: ${error.message}${excerpt(spot)}`,
    { ...error.details, ...spot },
    error,
  );
}

function syntaxError(error: Error, spot: Spot, cwd: string): WaybillError {
  const message = redact(error.message);
  const hint =
    (error as { code?: unknown }).code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"
      ? " (Node.js takes the types away and runs the rest: enum, namespace and parameter properties are not possible)"
      : "";
  return new WaybillError(
    "config_syntax",
    `${place(spot, cwd)}: ${message}${hint}${excerpt(spot)}`,
    { ...spot, text: lineOf(spot), problem: message },
    error,
  );
}

/** Node puts `file:line`, the line and a caret above the stack of most syntax errors. */
function spotInArrow(stack: string): Spot | null {
  const lines = stack.split("\n");
  const head = /^(\/.*|[A-Za-z]:\\.*|file:\/\/.*):(\d+)$/.exec(lines[0] ?? "");
  if (!head?.[1] || !head[2]) return null;
  const caret = lines.slice(1, 8).find((line) => /^\s*\^+\s*$/.test(line));
  return {
    file: head[1].startsWith("file:") ? fileURLToPath(head[1]) : head[1],
    line: Number(head[2]),
    column: caret === undefined ? null : caret.indexOf("^") + 1,
  };
}

/** The first frame in a file of the user. */
function spotInFrames(stack: string): Spot | null {
  for (const [, url, line, column] of stack.matchAll(/(file:\/\/[^\s()]+?)(?:\?[^\s():]*)?:(\d+):(\d+)/g)) {
    if (!url || url.includes("/node_modules/") || url.startsWith(ownCode)) continue;
    return { file: fileURLToPath(url), line: Number(line), column: Number(column) };
  }
  return null;
}

const ownCode = new URL("../", import.meta.url).href;

/** Errors that only the engine finds come without a place, so the file is parsed once more, by `node --check`. */
function parseAgain(file: string): Spot | null {
  try {
    const source = readFileSync(file, "utf8");
    const javascript = /\.m?ts$/.test(file) ? node(["-e", stripper], source).stdout : source;
    const { stderr } = node(["--check", "--input-type=module", "-"], javascript);
    const spot = spotInArrow(stderr.replace(/^\[stdin\]:/m, `${file}:`));
    return spot === null ? null : { ...spot, file };
  } catch {
    return null;
  }
}

/** Types become blanks, so every place stays where it was. */
const stripper =
  'process.stdout.write(require("node:module").stripTypeScriptTypes(require("node:fs").readFileSync(0, "utf8")))';

function node(args: readonly string[], input: string): { stdout: string; stderr: string } {
  const env = { ...process.env, NODE_OPTIONS: "" };
  return spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    input,
    encoding: "utf8",
    env,
  });
}

function lineOf(spot: Spot): string | null {
  try {
    return readFileSync(spot.file, "utf8").split(/\r?\n/)[spot.line - 1] ?? null;
  } catch {
    return null;
  }
}

/** The line with a caret below it. */
function excerpt(spot: Spot | null): string {
  const text = spot && lineOf(spot);
  if (!spot || text === null) return "";
  const cut = redact(text, 160);
  const gutter = `  ${spot.line} | `;
  // A tab is kept as a tab in the line of the caret, so that both lines move alike.
  const pad = (n: number) => text.slice(0, n).replace(/[^\t]/g, " ");
  const caret =
    spot.column === null || spot.column > 160 ? "" : `\n${" ".repeat(gutter.length)}${pad(spot.column - 1)}^`;
  return `\n${gutter}${cut}${caret}`;
}

function place(spot: Spot, cwd: string): string {
  const position = spot.line === 0 ? "" : `:${spot.line}${spot.column === null ? "" : `:${spot.column}`}`;
  return `${shown(spot.file, cwd)}${position}`;
}

function shown(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return short.startsWith("..") ? file : short;
}
