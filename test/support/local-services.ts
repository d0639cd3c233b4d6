/** Starts a Postgres or a Redis of our own from binaries on this machine, on a spare port, keeping nothing. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

export type Started = { url: string; stop: () => Promise<void> } | { reason: string };

const startMs = 60_000;

/** A new Postgres cluster in a temporary folder: trust authentication, user `postgres`, no fsync. */
export async function startPostgres(): Promise<Started> {
  const bin = findFolder(["initdb", "postgres"], globSync("/usr/lib/postgresql/*/bin").toReversed());
  if (bin === null) return { reason: "there are no Postgres binaries (initdb, postgres) here" };
  // Postgres refuses to run as root.
  const owner: { uid?: number; gid?: number } | null =
    process.getuid?.() === 0 ? (userIds("postgres") ?? userIds("nobody")) : {};
  if (owner === null) return { reason: "Postgres refuses root and there is no user postgres or nobody" };

  const folder = mkdtempSync(path.join(tmpdir(), "waybill-postgres-"));
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const data = path.join(folder, "data");
  const options = { ...owner, cwd: folder, env: { ...process.env, LC_ALL: "C" } };

  const init = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
  const made = spawnSync(path.join(bin, "initdb"), init, { ...options, encoding: "utf8" });
  if (made.status !== 0) {
    removeFolder();
    return { reason: `initdb failed (${lastLine(made.stderr)})` };
  }
  const port = await sparePort();
  const settings = ["listen_addresses=127.0.0.1", `port=${port}`, `unix_socket_directories=${folder}`];
  settings.push("fsync=off", "full_page_writes=off", "max_connections=300", "logging_collector=off");
  const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  const child = spawn(path.join(bin, "postgres"), args, {
    ...options,
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  const problem = await untilSaid(child, "ready to accept connections");
  const stop = async () => {
    await end(child, "SIGINT"); // fast shutdown: does not wait for clients
    removeFolder();
  };
  if (problem !== null) {
    await stop();
    return { reason: `postgres did not start (${problem})` };
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
}

/** A new Redis that writes nothing to disk. */
export async function startRedis(): Promise<Started> {
  const bin = findFolder(["redis-server"], []);
  if (bin === null) return { reason: "there is no redis-server here" };
  const port = await sparePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const child = spawn(path.join(bin, "redis-server"), args, {
    cwd: tmpdir(),
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const problem = await untilSaid(child, "eady to accept connections");
  const stop = () => end(child, "SIGTERM");
  if (problem !== null) {
    await stop();
    return { reason: `redis-server did not start (${problem})` };
  }
  return { url: `redis://127.0.0.1:${port}`, stop };
}

/** The first folder, of PATH and then of `more`, that holds all of those programs. */
function findFolder(programs: string[], more: string[]): string | null {
  const folders = [...(process.env["PATH"] ?? "").split(path.delimiter), ...more];
  const holdsAll = (folder: string) => programs.every((name) => existsSync(path.join(folder, name)));
  return folders.find((folder) => folder !== "" && holdsAll(folder)) ?? null;
}

function userIds(name: string): { uid: number; gid: number } | null {
  const ask = (flag: string) => spawnSync("id", [flag, name], { encoding: "utf8" });
  const uid = ask("-u");
  const gid = ask("-g");
  if (uid.status !== 0 || gid.status !== 0) return null;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function sparePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Null once the child has said those words; else why they will not come. Its output is read on, and dropped. */
function untilSaid(child: ChildProcess, words: string): Promise<string | null> {
  return new Promise((resolve) => {
    let said = "";
    const late = setTimeout(() => resolve(`no sign of life after ${startMs / 1_000} s`), startMs);
    const settle = (problem: string | null) => {
      clearTimeout(late);
      resolve(problem);
    };
    const output = child.stderr ?? child.stdout;
    output?.setEncoding("utf8");
    output?.on("data", (text: string) => {
      said = (said + text).slice(-4_000);
      if (said.includes(words)) settle(null);
    });
    child.on("error", (error) => settle(error.message));
    child.on("exit", () => settle(lastLine(said)));
  });
}

/** Ends the child and waits until it has gone. It leads a group of its own, so Ctrl-C reaches it only through us. */
function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on("exit", () => resolve());
    child.kill(signal);
  });
}

function lastLine(text: string | null): string {
  return (text ?? "").trim().split("\n").at(-1) ?? "";
}
