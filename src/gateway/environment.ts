import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { z } from "zod";
import { WaybillError } from "../kernel/errors.ts";
import type { GatewayOptions } from "./options.ts";

/** What surrounds a server, from flags, the environment and `.env`, checked. Folders and files are absolute. */
export interface ServerSettings {
  /** 0: any free port. */
  port: number;
  host: string;
  /** True if only this machine can reach `host`. */
  loopback: boolean;
  dataDir: string;
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
  token: string | undefined;
  key: string | undefined;
  /** `provider/model`. */
  model: string | undefined;
  modelUrl: string | undefined;
  /** The settings file that was named; undefined: look in the working folder. */
  configFile: string | undefined;
  logLevel: LogLevel;
  /** Milliseconds that runs have to end by themselves when it stops; undefined: as the settings file says. */
  graceMs: number | undefined;
  hosts: readonly string[];
  origins: readonly string[];
}

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Flags of the command line, each under the name of its variable; they win over the environment. */
export type ServerFlags = { [K in VariableKey]?: string | undefined };

type VariableKey = keyof typeof variables;

const list = z.string().transform((text) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== ""),
);

const webAddress = (protocols: RegExp, rule: string) =>
  z.string().refine((text) => URL.canParse(text) && protocols.test(new URL(text).protocol), rule);

/** Every variable with its flag and its rule. A value is never repeated in a message: some of them are secrets. */
const variables = {
  port: {
    env: "WAYBILL_PORT",
    flag: "--port",
    rule: z
      .string()
      .regex(/^\d{1,5}$/, "must be a whole number from 0 to 65535 (0: any free port)")
      .transform(Number)
      .refine((port) => port <= 65_535, "must be a whole number from 0 to 65535 (0: any free port)"),
  },
  host: {
    env: "WAYBILL_HOST",
    flag: "--host",
    rule: z
      .string()
      .regex(/^[A-Za-z0-9.:_%-]+$/, "must be a host name or an IP address, such as 127.0.0.1 or 0.0.0.0"),
  },
  data: { env: "WAYBILL_DATA", flag: "--data", rule: z.string().refine(noNul, "must be a path") },
  databaseUrl: { env: "WAYBILL_DATABASE_URL", flag: "--database-url", rule: z.string() },
  redisUrl: {
    env: "WAYBILL_REDIS_URL",
    flag: "--redis-url",
    rule: webAddress(/^rediss?:$/, "must be a redis:// or rediss:// address"),
  },
  token: {
    env: "WAYBILL_TOKEN",
    flag: "--token",
    // What a bearer token may be made of (RFC 6750, b64token), so that it fits into a header.
    rule: z
      .string()
      .regex(/^[A-Za-z0-9._~+/=-]{8,}$/, "must be at least 8 characters of A-Z a-z 0-9 . _ ~ + / = -"),
  },
  key: { env: "WAYBILL_KEY", flag: "--key", rule: z.string() },
  model: {
    env: "WAYBILL_MODEL",
    flag: "--model",
    rule: z.string().regex(/^[^/\s]+\/\S+$/, "must be of the form provider/model, such as openai/gpt-5"),
  },
  modelUrl: {
    env: "WAYBILL_MODEL_URL",
    flag: "--model-url",
    rule: webAddress(/^https?:$/, "must be an http or https address, such as http://127.0.0.1:1234/v1"),
  },
  config: { env: "WAYBILL_CONFIG", flag: "--config", rule: z.string().refine(noNul, "must be a path") },
  log: {
    env: "WAYBILL_LOG",
    flag: "--log",
    rule: z.string().refine((text): text is LogLevel => (logLevels as readonly string[]).includes(text), {
      error: `must be one of ${logLevels.join(", ")}`,
    }),
  },
  grace: {
    env: "WAYBILL_GRACE",
    flag: "--grace",
    rule: z
      .string()
      .regex(/^\d{1,9}$/, "must be a whole number of milliseconds")
      .transform(Number),
  },
  hosts: { env: "WAYBILL_HOSTS", flag: "--hosts", rule: list },
  origins: { env: "WAYBILL_ORIGINS", flag: "--origins", rule: list },
} as const;

function noNul(text: string): boolean {
  return !text.includes("\0");
}

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads flags and environment.
 * @throws WaybillError `config_invalid`, which names each flag or variable with its rule (`details.issues`)
 */
export function readEnvironment(env: Env, flags: ServerFlags, cwd: string): ServerSettings {
  const issues: { field: string; rule: string }[] = [];
  const read = <K extends VariableKey>(key: K): z.infer<(typeof variables)[K]["rule"]> | undefined => {
    const { env: name, flag, rule } = variables[key];
    const given = flags[key];
    const text = given ?? env[name];
    // An empty variable is how shells and compose files say "not set"; an empty flag is a mistake.
    if (text === undefined || (text === "" && given === undefined)) return undefined;
    const field = given === undefined ? name : flag;
    const checked = text === "" ? null : rule.safeParse(text);
    if (checked?.success) return checked.data as z.infer<(typeof variables)[K]["rule"]>;
    issues.push({ field, rule: checked?.error.issues[0]?.message ?? "must not be empty" });
    return undefined;
  };
  const host = read("host") ?? "127.0.0.1";
  const configFile = read("config");
  const settings: ServerSettings = {
    port: read("port") ?? 8787,
    host,
    loopback: isLoopback(host),
    dataDir: resolve(cwd, read("data") ?? ".waybill"),
    databaseUrl: read("databaseUrl"),
    redisUrl: read("redisUrl"),
    token: read("token"),
    key: read("key"),
    model: read("model"),
    modelUrl: read("modelUrl"),
    configFile: configFile === undefined ? undefined : resolve(cwd, configFile),
    logLevel: read("log") ?? "info",
    graceMs: read("grace"),
    hosts: read("hosts") ?? [],
    origins: read("origins") ?? [],
  };
  if (issues.length === 0) return settings;
  throw new WaybillError("config_invalid", issues.map(({ field, rule }) => `${field} ${rule}.`).join("\n"), {
    issues,
  });
}

/**
 * True if a listener on this host is reached from this machine only. A name other than localhost may resolve to
 * anything, so it counts as open.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

/** @throws WaybillError `token_required` if others could reach the gateway without a token */
export function refuseOpenDoor(settings: Pick<ServerSettings, "host" | "loopback" | "token">): void {
  if (settings.loopback || settings.token !== undefined) return;
  throw new WaybillError(
    "token_required",
    `On ${settings.host} other machines can reach this gateway, so it needs a token: set WAYBILL_TOKEN ` +
      "(make one with: openssl rand -hex 24), or listen on 127.0.0.1.",
    { host: settings.host },
  );
}

/**
 * Reads `.env` of a folder into `env`; what is set there already wins.
 * @returns the names that it set
 * @throws WaybillError `config_invalid` if the file cannot be read
 */
export function loadDotEnv(cwd: string, env: Record<string, string | undefined>): string[] {
  const file = join(cwd, ".env");
  if (!existsSync(file)) return [];
  let values: Record<string, string | undefined>;
  try {
    values = parseEnv(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new WaybillError(
      "config_invalid",
      `${file} cannot be read (${(cause as Error).message}).`,
      { field: ".env" },
      cause,
    );
  }
  const fresh = Object.keys(values).filter((name) => env[name] === undefined);
  for (const name of fresh) env[name] = values[name];
  return fresh;
}

/** What of the settings a gateway is made with. */
export function gatewayOptions(settings: ServerSettings): GatewayOptions {
  const { dataDir, databaseUrl, token, key, loopback, hosts, origins } = settings;
  return {
    dataDir,
    loopback,
    hosts,
    origins,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(token === undefined ? {} : { token }),
    ...(key === undefined ? {} : { key }),
  };
}
