import { closest, distance } from "fastest-levenshtein";
import { canonicalJson, sha256 } from "../kernel/digest.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { Agent, RecoveryPolicy, RunLimits } from "./agent.ts";

/** What every kind of agent can be told. */
export interface AgentOptions {
  /** True: a message starts a job that is acknowledged first and answered when it is done. Default false. */
  background?: boolean;
  /** What to do with a run that a dead process left. Default `notify`. */
  recovery?: RecoveryPolicy;
  /** Limits of one run; they win over the gateway's own, which hold where none is given here. */
  limits?: RunLimits;
  /** True if the agent takes follow-ups (`ctx.takeSteering()`) while it runs. */
  steerable?: boolean;
  /** Name of the agent's version, stored with each run. Default: a digest of the agent's settings. */
  version?: string;
}

const commonOptions = ["background", "recovery", "limits", "steerable", "version"];
const recoveryPolicies: readonly RecoveryPolicy[] = ["notify", "retry", "resume"];
const limitNames: readonly (keyof RunLimits)[] = ["tokens", "steps", "wallMs"];

/** What tells one kind of agent from another: the options that only it has, and what its version is made of. */
export interface AgentKind {
  kind: string;
  ownOptions: readonly string[];
  steerable: boolean;
  models: readonly string[];
  /** JSON of the kind's own settings, for the version's digest. */
  settings: unknown;
}

/**
 * The describing part of an agent, from its options.
 * @throws WaybillError `config_invalid` that names the option, the rule and the nearest known name.
 */
export function describeAgent(kind: AgentKind, options: AgentOptions): Omit<Agent, "run"> {
  checkOptions(kind, options);
  const shape = {
    kind: kind.kind,
    background: options.background ?? false,
    recovery: options.recovery ?? "notify",
    limits: { ...options.limits },
    steerable: options.steerable ?? kind.steerable,
    models: kind.models,
  };
  const digest = sha256(canonicalJson({ ...shape, settings: kind.settings })).slice(0, 16);
  return { ...shape, version: options.version ?? digest };
}

function checkOptions(kind: AgentKind, options: AgentOptions): void {
  const where = `agent.${kind.kind}`;
  const known = [...commonOptions, ...kind.ownOptions];
  refuseUnknown(Object.keys(options), known, (key) => `${where} has no option "${key}"`);
  refuseUnknown(
    Object.keys(options.limits ?? {}),
    limitNames,
    (key) => `${where}: limits has no field "${key}"`,
  );
  for (const name of limitNames) {
    const value = options.limits?.[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw invalid(`${where}: limits.${name} must be a whole number above 0.`, { field: `limits.${name}` });
    }
  }
  if (options.recovery !== undefined && !recoveryPolicies.includes(options.recovery)) {
    throw invalid(`${where}: recovery must be one of ${recoveryPolicies.join(", ")}.`, { field: "recovery" });
  }
  for (const name of ["background", "steerable"] as const) {
    if (options[name] !== undefined && typeof options[name] !== "boolean") {
      throw invalid(`${where}: ${name} must be true or false.`, { field: name });
    }
  }
  if (options.version !== undefined && (typeof options.version !== "string" || options.version === "")) {
    throw invalid(`${where}: version must be a text of at least one character.`, { field: "version" });
  }
}

function refuseUnknown(keys: string[], known: readonly string[], say: (key: string) => string): void {
  for (const key of keys) {
    if (known.includes(key)) continue;
    throw invalid(`${say(key)}. ${didYouMean(key, known)}`, { field: key, known });
  }
}

/** "Did you mean ...?" when a known name is near, else the list of what there is. */
export function didYouMean(name: string, known: readonly string[]): string {
  if (known.length === 0) return "There is none.";
  const nearest = closest(name, known);
  if (distance(name, nearest) <= Math.max(2, Math.floor(name.length / 3)))
    return `Did you mean "${nearest}"?`;
  return `There is ${known.map((other) => `"${other}"`).join(", ")}.`;
}

/** An error about a setting; `details.field` is where it stands. */
export function invalid(message: string, details: Record<string, unknown>): WaybillError {
  return new WaybillError("config_invalid", message, details);
}
