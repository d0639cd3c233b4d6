import { z } from "zod";
import { parsePattern } from "../address/pattern.ts";
import { didYouMean } from "../agents/agent-options.ts";
import { agentName } from "../agents/registry.ts";
import { asWaybillError, WaybillError } from "../kernel/errors.ts";
import { scheduleIssues, scheduleWarnings } from "./check-schedules.ts";
import type { GatewayOptions } from "./options.ts";
import type { WaybillConfig } from "./settings.ts";

/** One thing that is wrong: where, and which rule it breaks. */
export interface SettingIssue {
  /** `limits.run.tokens`, `routes[0].in` */
  field: string;
  rule: string;
}

/**
 * Refuses settings that cannot work. All that is wrong is said at once: the field, the rule and, for a name that is not
 * known, the nearest one that is.
 * @returns warnings for the log: settings that work, but hardly as they were meant
 * @throws WaybillError `config_invalid` with `details.issues`, `token_required`
 */
export function checkSettings(config: WaybillConfig, options: GatewayOptions): string[] {
  const issues = settingIssues(config);
  if (issues.length > 0) throw invalidSettings(issues);
  if (options.loopback === false && !options.token) {
    throw new WaybillError(
      "token_required",
      "Other machines can reach this gateway: set WAYBILL_TOKEN first.",
    );
  }
  return settingWarnings(config);
}

function invalidSettings(issues: readonly SettingIssue[]): WaybillError {
  const lines = issues.map(({ field, rule }) => (field === "" ? rule : `${field} ${rule}`));
  const message =
    lines.length === 1
      ? `Settings: ${lines[0]}`
      : `The settings have ${lines.length} problems:\n${lines.map((line) => `  - ${line}`).join("\n")}`;
  return new WaybillError("config_invalid", message, { field: issues[0]?.field, issues });
}

/** The longest that a supervisor waits by its own defaults: systemd's TimeoutStopSec (90 s; Kubernetes 30 s, Docker 10 s). */
const SUPERVISOR_WAITS_MS = 90_000;

function settingWarnings(config: WaybillConfig): string[] {
  const held = scheduleWarnings(config);
  if ((config.shutdown?.graceMs ?? 0) <= SUPERVISOR_WAITS_MS) return held;
  return [
    ...held,
    "shutdown.graceMs is longer than any supervisor waits by default (systemd 90 s, Kubernetes 30 s, Docker 10 s): " +
      "unless it was told to wait longer, it kills the process first, and runs are reported only after the next start.",
  ];
}

/** What is known at each place, for the nearest name. `[]` stands for any index. */
const known = new Map<string, readonly string[]>();

function section<S extends z.ZodRawShape>(path: string, shape: S): z.ZodObject<S, z.core.$strict> {
  known.set(path, Object.keys(shape));
  return z.strictObject(shape, {
    error: (issue) => (issue.code === "invalid_type" ? "must be an object." : undefined),
  });
}

const count = (least: 0 | 1, rule = `must be a whole number ${least === 0 ? "of 0 or more" : "above 0"}.`) =>
  z
    .number({ error: rule })
    .refine((value) => Number.isSafeInteger(value) && value >= least, { error: rule })
    .optional();

const choice = <const T extends readonly string[]>(values: T) =>
  z
    .string({ error: oneOf(values) })
    .refine((text) => values.includes(text), { error: (issue) => oneOf(values, issue.input) })
    .optional();

function oneOf(values: readonly string[], given?: unknown): string {
  const nearest =
    typeof given === "string" && given.length > 2 ? ` ${didYouMean(given.slice(0, 80), values)}` : "";
  return `must be one of ${values.map((value) => `"${value}"`).join(", ")}.${nearest.startsWith(" Did") ? nearest : ""}`;
}

const flag = z.boolean({ error: "must be true or false." }).optional();

const pattern = z.string({ error: "must be a text, such as web:main/general." }).superRefine((text, ctx) => {
  try {
    parsePattern(text);
  } catch (thrown) {
    ctx.addIssue({ code: "custom", message: `is no place: ${asWaybillError(thrown).message}` });
  }
});

const agentShape = z.custom<unknown>((value) => agentProblem(value) === null, {
  error: (issue) => agentProblem(issue.input) ?? "",
});

function agentProblem(value: unknown): string | null {
  const agent = value as { run?: unknown; kind?: unknown } | null | undefined;
  if (typeof agent === "object" && typeof agent?.run === "function" && typeof agent.kind === "string")
    return null;
  if (typeof value === "function") return "is a bare function. Wrap it: agent.fn(...).";
  return "is no agent. Make it with agent.fn(...), agent.model(...), agent.ai(...) or agent.process(...).";
}

const channelShape = z.custom<unknown>((value) => channelProblem(value) === null, {
  error: (issue) => channelProblem(issue.input) ?? "",
});

function channelProblem(value: unknown): string | null {
  if (typeof value === "function")
    return "is a function. Call it with its settings, such as webhook({ ... }).";
  const { kind, account, connect, then } = (value ?? {}) as Record<string, unknown>;
  if (typeof then === "function") return "is a promise. Await it.";
  if (typeof kind === "string" && typeof account === "string" && typeof connect === "function") return null;
  return "is no channel. Make it with webhook({ ... }) or another channel's function.";
}

const caps = (path: string) => section(path, { runs: count(1), tokens: count(1) }).optional();

const list = <T extends z.ZodType>(item: T) =>
  z.array(item, { error: "must be a list: [ ... ]." }).optional();

const schema = section("", {
  agents: z
    .record(
      z
        .string()
        .regex(
          agentName,
          "is no name for an agent: use a to z, 0 to 9, _ and -, at most 64, no - at the start.",
        ),
      agentShape,
      {
        error: "is missing. Write: agents: { assistant: agent.fn(async (ctx) => `You said: ${ctx.text}`) }.",
      },
    )
    .refine((agents) => Object.keys(agents).length > 0, { error: "must name at least one agent." }),
  channels: list(channelShape),
  routes: list(
    section("routes[]", { in: pattern, agent: z.string({ error: "must be the name of an agent." }) }),
  ),
  crossPost: list(section("crossPost[]", { from: pattern.optional(), to: pattern })),
  limits: section("limits", {
    run: section("limits.run", { tokens: count(1), steps: count(1), wallMs: count(1) }).optional(),
    daily: section("limits.daily", {
      perSender: caps("limits.daily.perSender"),
      perAgent: caps("limits.daily.perAgent"),
    }).optional(),
    concurrency: count(1),
    requestsPerMinute: count(1),
    bodyBytes: count(1),
    answerCharacters: count(1),
  }).optional(),
  memory: choice(["conversation", "shared"]),
  memoryWindow: count(0),
  followUp: choice(["queue", "steer", "interrupt"]),
  lastActive: flag,
  schedules: list(
    section("schedules[]", {
      id: z.string({ error: "must be a text that names it for good." }),
      cron: z.string({ error: 'must be a cron pattern, such as "0 9 * * 1-5".' }),
      timeZone: z.string({ error: 'must be an IANA name, such as "Europe/Berlin".' }).optional(),
      to: z.string({ error: "must be a text, such as web:main/general." }).optional(),
      account: z.string({ error: "must be a text, such as slack:T1." }).optional(),
      agent: z.string({ error: "must be the name of an agent." }).optional(),
      text: z.string({ error: "must be a text: what is posted, or what the agent is asked." }),
    }),
  ),
  shutdown: section("shutdown", { graceMs: count(0) }).optional(),
  tools: section("tools", { graceMs: count(0) }).optional(),
  locale: choice(["en", "ko"]),
} satisfies Record<keyof WaybillConfig, z.ZodType>);

/** All that is wrong with settings, in the order of the fields; empty if nothing is. */
export function settingIssues(config: unknown): SettingIssue[] {
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    return [
      {
        field: "",
        rule: "the settings must be an object: export default defineConfig({ agents: { ... } });",
      },
    ];
  }
  const checked = schema.safeParse(config);
  const issues = checked.success ? [] : checked.error.issues.flatMap((issue) => toIssues(issue, []));
  return [
    ...issues,
    ...nameIssues(config as Partial<WaybillConfig>),
    ...scheduleIssues(config as Partial<WaybillConfig>),
  ];
}

function toIssues(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): SettingIssue[] {
  const path = [...above, ...issue.path];
  const field = fieldOf(path);
  if (issue.code === "unrecognized_keys") {
    const names = known.get(field.replaceAll(/\[\d+\]/g, "[]")) ?? [];
    return issue.keys.map((key) => ({
      field: fieldOf([...path, key]),
      rule: `is not a setting. ${didYouMean(key, names)}`,
    }));
  }
  if (issue.code === "invalid_key") return [{ field, rule: issue.issues[0]?.message ?? issue.message }];
  return [{ field, rule: issue.message }];
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${printable(String(part))}`))
    .join("")
    .replace(/^\./, "");
}

/** Names that must exist elsewhere in the settings: a route's agent, and the channel of a place. */
function nameIssues({ agents, channels, routes, crossPost }: Partial<WaybillConfig>): SettingIssue[] {
  const names = typeof agents === "object" && agents !== null ? Object.keys(agents) : [];
  const kinds = ["web", ...arrayOf(channels).flatMap((one) => kindOf(one))];
  const issues: SettingIssue[] = [];
  const checkPlace = (field: string, text: unknown): void => {
    const kind = typeof text === "string" ? channelOf(text) : null;
    if (kind === null || kinds.includes(kind)) return;
    issues.push({
      field,
      rule: `names the channel "${printable(kind)}", which is not configured. ${didYouMean(kind, kinds)}`,
    });
  };
  const accounts = new Set(["web:main"]);
  arrayOf(channels).forEach((channel, i) => {
    const { kind, account } = (channel ?? {}) as Record<string, unknown>;
    if (typeof kind !== "string" || typeof account !== "string") return;
    const name = `${kind}:${account}`;
    if (accounts.has(name)) {
      issues.push({
        field: `channels[${i}]`,
        rule: `is ${printable(name)} once more. Give it another account.`,
      });
    }
    accounts.add(name);
  });
  arrayOf(routes).forEach((route, i) => {
    const { in: place, agent } = (route ?? {}) as Record<string, unknown>;
    checkPlace(`routes[${i}].in`, place);
    if (typeof agent !== "string" || names.includes(agent)) return;
    issues.push({
      field: `routes[${i}].agent`,
      rule: `names the agent "${printable(agent)}", which is not in agents. ${didYouMean(agent, names)}`,
    });
  });
  arrayOf(crossPost).forEach((rule, i) => {
    const { from, to } = (rule ?? {}) as Record<string, unknown>;
    checkPlace(`crossPost[${i}].from`, from);
    checkPlace(`crossPost[${i}].to`, to);
  });
  return issues;
}

function channelOf(text: string): string | null {
  try {
    return parsePattern(text).channel;
  } catch {
    return null; // The schema has said so already.
  }
}

function kindOf(channel: unknown): string[] {
  const kind = (channel as { kind?: unknown } | null | undefined)?.kind;
  return typeof kind === "string" ? [kind] : [];
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, 80);
}
