import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { ServerSettings } from "../../gateway/environment.ts";
import { readServed } from "../../gateway/served-file.ts";
import { isWaybill } from "../client.ts";
import { fail, ok, warn, type Finding } from "./check.ts";

const OLDEST_NODE = 24;

export function checkNode(): Finding {
  const { node } = process.versions;
  if (Number(node.split(".")[0]) >= OLDEST_NODE) return ok("node", `Node.js ${node}`);
  return fail("node", `Node.js ${node} is too old`, `Install Node.js ${OLDEST_NODE} or newer.`);
}

/** What the disk should have left: below the first it will not last, below the second it should be watched. Bytes. */
const LEAST_FREE = 64 * 1024 * 1024;
const GOOD_FREE = 1024 * 1024 * 1024;

/** The data folder: there or to be made, writable, and with room. */
export function checkDataFolder({ dataDir }: ServerSettings): Finding[] {
  const folder = nearestFolder(dataDir);
  const problem = writeProblem(folder);
  if (problem !== null) {
    const todo = "Make it writable for this user, or choose another with --data.";
    return [
      fail(
        "data folder",
        `${dataDir} cannot be ${existsSync(dataDir) ? "written" : "made"} (${problem})`,
        todo,
      ),
    ];
  }
  const text = existsSync(dataDir) ? `${dataDir} is writable` : `${dataDir} will be made at the first start`;
  return [ok("data folder", text), checkRoom(folder), ...checkKey(dataDir)];
}

/** The folder itself or the nearest one above it that is there. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

/** Null if a file can really be written there; permissions alone do not tell (read-only disks, quotas, root). */
function writeProblem(folder: string): string | null {
  try {
    if (!statSync(folder).isDirectory()) return `${folder} is a file`;
    accessSync(folder, constants.W_OK | constants.X_OK);
    const probe = mkdtempSync(join(folder, ".waybill-doctor-"));
    try {
      writeFileSync(join(probe, "probe"), "x");
    } finally {
      rmSync(probe, { recursive: true, force: true });
    }
    return null;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code ?? (thrown as Error).message;
  }
}

function checkRoom(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${free >= GOOD_FREE ? `${(free / GOOD_FREE).toFixed(1)} GiB` : `${Math.floor(free / 1024 / 1024)} MiB`} free`;
  if (free < LEAST_FREE) return fail("disk", text, "Free some space, or choose another disk with --data.");
  if (free < GOOD_FREE)
    return warn("disk", text, "Free some space before it is full; nothing is accepted then.");
  return ok("disk", text);
}

/** The cluster key signs what agents hand back: only its user should read it. */
function checkKey(dataDir: string): Finding[] {
  const file = join(dataDir, "key");
  if (!existsSync(file) || (statSync(file).mode & 0o077) === 0) return [];
  return [warn("key", `${file} can be read by others`, `Run: chmod 600 ${file}`)];
}

/** The port is free, or the gateway of this folder has it. */
export async function checkPort(settings: ServerSettings): Promise<Finding> {
  const { host, port, dataDir } = settings;
  if (port === 0) return ok("port", "any free port");
  const code = await listenProblem(host, port);
  if (code === null) return ok("port", `${host}:${port} is free`);
  if (code !== "EADDRINUSE") {
    return fail(
      "port",
      `${host}:${port} cannot be listened on (${code})`,
      "Choose another with --host and --port.",
    );
  }
  const name = host.includes(":") ? `[${host}]` : host;
  const url = `http://${settings.loopback ? name : "127.0.0.1"}:${port}`;
  const served = readServed(dataDir);
  if (served && new URL(served.url).port === String(port) && (await isWaybill(url))) {
    return ok("port", `${host}:${port} is served by the gateway of this folder (process ${served.pid})`);
  }
  const who = (await isWaybill(url)) ? "another Waybill" : "another program";
  return fail("port", `${host}:${port} is taken by ${who}`, "Stop it, or choose another port with --port.");
}

/** Null if the port can be listened on, else the system's error code. */
function listenProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Who may come in from other machines. */
export function checkToken({ loopback, host, token }: ServerSettings): Finding {
  if (token === undefined) {
    if (loopback) return ok("token", "none needed: only this machine can reach the gateway");
    return fail(
      "token",
      `other machines can reach ${host}, and there is no token`,
      "Set WAYBILL_TOKEN: openssl rand -hex 24",
    );
  }
  if (token.length < 16) return warn("token", "the token is short", "Set a longer one: openssl rand -hex 24");
  return ok("token", "a token is set");
}
