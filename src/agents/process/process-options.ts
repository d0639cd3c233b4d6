import type { AgentOptions } from "../agent-options.ts";
import { invalid } from "../agent-options.ts";

export interface PoolOptions {
  /** Processes that stay when nothing is asked of them. Default 0. */
  min?: number;
  /** Processes at once, at most. Default 4. */
  max?: number;
  /** Milliseconds without a turn after which a process above `min` is ended. Default 300,000. */
  idleMs?: number;
  /** Turns that one process handles at once. Default 1. */
  concurrentTurns?: number;
}

export interface ProcessAgentOptions extends AgentOptions {
  /** A program on PATH, or the path of one. It is started without a shell. */
  command: string;
  args?: readonly string[];
  /** The folder it works in. Default: the gateway's own. */
  cwd?: string;
  /** Names of variables that it is given from the gateway's environment, besides a few such as PATH and HOME. */
  env?: readonly string[];
  pool?: PoolOptions;
  /** Milliseconds within which a process says `ready`. Default 10,000. */
  startTimeoutMs?: number;
  /** Milliseconds in which a turn that was cancelled is to be ended by its process; else the process is. Default 5,000. */
  cancelGraceMs?: number;
}

/** The options with what was left out. */
export interface ProcessSettings {
  command: string;
  args: readonly string[];
  cwd: string | undefined;
  env: readonly string[];
  pool: Required<PoolOptions>;
  startTimeoutMs: number;
  cancelGraceMs: number;
}

export const processOptionNames = [
  "command",
  "args",
  "cwd",
  "env",
  "pool",
  "startTimeoutMs",
  "cancelGraceMs",
];

const poolDefaults: Required<PoolOptions> = { min: 0, max: 4, idleMs: 300_000, concurrentTurns: 1 };
const poolLeast: Required<PoolOptions> = { min: 0, max: 1, idleMs: 1, concurrentTurns: 1 };

/** Given by the gateway to each process, or the gateway's own secrets; an agent acts by its grant. */
const reserved = ["WAYBILL_GRANT", "WAYBILL_URL", "WAYBILL_KEY", "WAYBILL_TOKEN"];

/** @throws WaybillError `config_invalid` that names the option and the rule */
export function processSettings(options: ProcessAgentOptions): ProcessSettings {
  const { command, args = [], cwd, env = [], startTimeoutMs = 10_000, cancelGraceMs = 5_000 } = options ?? {};
  if (typeof command !== "string" || command.trim() === "" || command.includes("\0")) {
    throw invalid('agent.process: command must be the name or path of a program, such as "python3".', {
      field: "command",
    });
  }
  checkTexts("args", args);
  checkTexts("env", env);
  if (cwd !== undefined && (typeof cwd !== "string" || cwd === "")) {
    throw invalid("agent.process: cwd must be the path of a folder.", { field: "cwd" });
  }
  for (const name of env) checkVariable(name);
  checkWhole("startTimeoutMs", startTimeoutMs, 1);
  checkWhole("cancelGraceMs", cancelGraceMs, 1);
  return { command, args, cwd, env, pool: poolSettings(options.pool ?? {}), startTimeoutMs, cancelGraceMs };
}

function poolSettings(given: PoolOptions): Required<PoolOptions> {
  for (const [name, value] of Object.entries(given)) {
    if (!(name in poolDefaults)) {
      throw invalid(
        `agent.process: pool has no field "${name}". There is ${Object.keys(poolDefaults).join(", ")}.`,
        { field: `pool.${name}` },
      );
    }
    checkWhole(`pool.${name}`, value, poolLeast[name as keyof PoolOptions]);
  }
  const pool = { ...poolDefaults, ...given };
  if (pool.min > pool.max) {
    throw invalid(`agent.process: pool.min (${pool.min}) must not be above pool.max (${pool.max}).`, {
      field: "pool.min",
    });
  }
  return pool;
}

function checkTexts(field: string, value: unknown): void {
  const isTexts =
    Array.isArray(value) && value.every((one) => typeof one === "string" && !one.includes("\0"));
  if (!isTexts) throw invalid(`agent.process: ${field} must be a list of texts.`, { field });
}

function checkVariable(name: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    // The value of a variable, written here by mistake, must not reach a log.
    throw invalid("agent.process: env holds names of variables only, such as OPENAI_API_KEY; no values.", {
      field: "env",
    });
  }
  if (!reserved.includes(name)) return;
  throw invalid(
    `agent.process: env may not name ${name}; a process acts by WAYBILL_GRANT and WAYBILL_URL, which it is given.`,
    { field: "env" },
  );
}

function checkWhole(field: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return;
  throw invalid(`agent.process: ${field} must be a whole number of at least ${least}.`, { field });
}
