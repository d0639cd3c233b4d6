/**
 * What tests need besides Node: a Postgres where databases may be created, a Redis, and Chromium for the browser
 * tests. Each is looked for in the environment, then at its usual place, then (by the orchestrator only) started or
 * installed. What cannot be had comes with the reason and the command that gets it.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createConnection } from "node:net";
import { userInfo } from "node:os";
import pg from "pg";
import { startPostgres, startRedis } from "./local-services.ts";

/** A service that can be used, or why not. `command` is what a person would type to get it. */
export type Service =
  | { found: true; url: string; from: string; stop?: () => Promise<void> }
  | { found: false; reason: string; command: string };

export const variables = {
  postgres: "WAYBILL_TEST_POSTGRES_URL",
  redis: "WAYBILL_TEST_REDIS_URL",
  chromium: "CHROMIUM_PATH",
  ngircd: "WAYBILL_TEST_NGIRCD",
} as const;

/** Set by whoever looked: why tests of that service are skipped. */
export const skipVariables = {
  postgres: "WAYBILL_TEST_POSTGRES_SKIP",
  redis: "WAYBILL_TEST_REDIS_SKIP",
  chromium: "WAYBILL_TEST_CHROMIUM_SKIP",
  ngircd: "WAYBILL_TEST_NGIRCD_SKIP",
} as const;

const probeMs = 2_000;

/** Postgres from the environment or on its usual port. Never starts one. */
export async function findPostgres(): Promise<Service> {
  const given = process.env[variables.postgres];
  if (given) {
    const problem = await whyNotPostgres(given);
    if (problem === null) return { found: true, url: given, from: variables.postgres };
    return missingPostgres(`${variables.postgres} is set, but ${problem}`);
  }
  if (!(await listens(5432))) return missingPostgres("nothing listens on 127.0.0.1:5432");
  const problems: string[] = [];
  for (const user of new Set([userInfo().username, "postgres", "root"])) {
    for (const database of ["test", "postgres"]) {
      const url = `postgres://${encodeURIComponent(user)}@127.0.0.1:5432/${database}`;
      const problem = await whyNotPostgres(url);
      if (problem === null) return { found: true, url, from: "its usual port" };
      problems.push(problem);
    }
  }
  return missingPostgres(`Postgres on 127.0.0.1:5432 let none of the usual users in (${problems[0]})`);
}

/** Redis from the environment or on its usual port. Never starts one. */
export async function findRedis(): Promise<Service> {
  const given = process.env[variables.redis];
  if (given) {
    const { hostname, port } = new URL(given);
    if (await answersPing(hostname, Number(port || 6379))) {
      return { found: true, url: given, from: variables.redis };
    }
    return missingRedis(`${variables.redis} is set, but no Redis that needs no password answers there`);
  }
  if (await answersPing("127.0.0.1", 6379)) {
    return { found: true, url: "redis://127.0.0.1:6379", from: "its usual port" };
  }
  return missingRedis("no Redis that needs no password answers on 127.0.0.1:6379");
}

/** As `findPostgres`, and if there is none and the environment asks for none, one of local binaries is started. */
export async function preparePostgres(): Promise<Service> {
  const found = await findPostgres();
  if (found.found || process.env[variables.postgres]) return found;
  const started = await startPostgres();
  if ("reason" in started) return missingPostgres(`${found.reason}, and ${started.reason}`);
  return { found: true, url: started.url, from: "local binaries", stop: started.stop };
}

/** As `findRedis`, and if there is none and the environment asks for none, a local binary is started. */
export async function prepareRedis(): Promise<Service> {
  const found = await findRedis();
  if (found.found || process.env[variables.redis]) return found;
  const started = await startRedis();
  if ("reason" in started) return missingRedis(`${found.reason}, and ${started.reason}`);
  return { found: true, url: started.url, from: "a local binary", stop: started.stop };
}

const chromiumPaths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome-stable",
  "/usr/bin/google-chrome",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Chromium from CHROMIUM_PATH or a known path. `url` is the path of its executable. */
export function findChromium(): Service {
  const given = process.env[variables.chromium];
  if (given) {
    if (existsSync(given)) return { found: true, url: given, from: variables.chromium };
    return missingChromium(`${variables.chromium} is set to ${given}, which does not exist`);
  }
  const known = chromiumPaths.find((path) => existsSync(path));
  if (known) return { found: true, url: known, from: "a known path" };
  return missingChromium("Chromium is at none of the known paths");
}

/** As `findChromium`, and where we are root on Debian it is installed. */
export function prepareChromium(): Service {
  return installed(findChromium, variables.chromium, "chromium", missingChromium);
}

/** An IRC server that tests start themselves. `url` is the path of its executable. */
export function findNgircd(): Service {
  const given = process.env[variables.ngircd];
  const known = [given ?? "", "/usr/sbin/ngircd", "/usr/local/sbin/ngircd", "/opt/homebrew/sbin/ngircd"];
  const path = known.find((one) => one !== "" && existsSync(one));
  if (path !== undefined) return { found: true, url: path, from: given ? variables.ngircd : "a known path" };
  return missingNgircd("ngircd is at none of the known paths");
}

/** As `findNgircd`, and where we are root on Debian it is installed. */
export function prepareNgircd(): Service {
  return installed(findNgircd, variables.ngircd, "ngircd", missingNgircd);
}

function installed(
  find: () => Service,
  variable: string,
  name: string,
  missing: (reason: string) => Service,
): Service {
  const found = find();
  const onDebian = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  if (found.found || process.env[variable] || !onDebian) return found;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update", "-q"], { stdio: "ignore", env });
  const install = ["install", "-y", "-q", "--no-install-recommends", name];
  const done = spawnSync("apt-get", install, { encoding: "utf8", env });
  const again = find();
  if (again.found) return { ...again, from: "apt-get" };
  const lines = (done.stderr ?? "").trim().split("\n");
  return missing(`apt-get could not install it (${lines.at(-1)})`);
}

function missingPostgres(reason: string): Service {
  return { found: false, reason, command: "apt-get install -y postgresql" };
}

function missingRedis(reason: string): Service {
  return { found: false, reason, command: "apt-get install -y redis-server" };
}

function missingNgircd(reason: string): Service {
  return { found: false, reason, command: "apt-get install -y ngircd" };
}

function missingChromium(reason: string): Service {
  return { found: false, reason, command: "apt-get install -y chromium" };
}

/** Null when the server lets us in and lets us create databases; else the reason. */
async function whyNotPostgres(url: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: probeMs });
  client.on("error", () => {});
  try {
    await client.connect();
    const sql = "select rolsuper or rolcreatedb as allowed from pg_roles where rolname = current_user";
    const answer = await client.query<{ allowed: boolean }>(sql);
    return answer.rows[0]?.allowed ? null : "that user may not create databases";
  } catch (error) {
    return error instanceof Error ? error.message || "the connection failed" : String(error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Whether anything accepts connections on that port of this machine. */
function listens(port: number): Promise<boolean> {
  return converse("127.0.0.1", port, null);
}

function answersPing(host: string, port: number): Promise<boolean> {
  return converse(host, port, { say: "PING\r\n", expect: "+PONG" });
}

function converse(
  host: string,
  port: number,
  talk: { say: string; expect: string } | null,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(probeMs, () => done(false));
    socket.on("error", () => done(false));
    socket.on("connect", () => (talk === null ? done(true) : void socket.write(talk.say)));
    socket.on("data", (data) => done(talk !== null && data.toString().startsWith(talk.expect)));
  });
}
