import { rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { sha256 } from "../kernel/digest.ts";

/**
 * A lock among the processes of one machine, whatever store they use: two gateways with folders of their own and one bot
 * token are told apart by it. It is a listening socket, so it goes with its process, also after `kill -9`.
 */
export interface MachineLock {
  release(): Promise<void>;
}

/** @returns null if another process of this machine has it */
export async function machineLock(name: string): Promise<MachineLock | null> {
  const place = socketOf(sha256(name).slice(0, 40));
  const server = (await listen(place)) ?? (await clearStale(place));
  if (!server) return null;
  // It must not keep a process alive that has nothing else to do.
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** Linux has sockets without a file, Windows has pipes; elsewhere a file may be left by a process that was killed. */
function socketOf(id: string): string {
  if (process.platform === "linux") return `\0waybill-${id}`;
  if (process.platform === "win32") return `\\\\.\\pipe\\waybill-${id}`;
  return path.join(tmpdir(), `waybill-${id}.sock`);
}

function listen(place: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(null) : reject(error),
    );
    server.listen(place, () => resolve(server));
  });
}

async function clearStale(place: string): Promise<Server | null> {
  if (process.platform === "linux" || process.platform === "win32" || (await answers(place))) return null;
  rmSync(place, { force: true });
  return listen(place);
}

function answers(place: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(place);
    const done = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", done(true));
    socket.once("error", done(false));
  });
}
