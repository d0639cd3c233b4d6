import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { StreamOrder } from "./stream-server.ts";

export interface StreamResult {
  received: number;
  rate: number;
  gap: { p50: number; p99: number; most: number };
  delay: { p50: number; p99: number };
}

function start(file: string, flags: readonly string[] = []): ChildProcess {
  return fork(new URL(file, import.meta.url), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execArgv: [...flags],
  });
}

async function heard<T>(child: ChildProcess, kind: string): Promise<T> {
  for (;;) {
    const [message] = (await once(child, "message")) as [{ kind: string; message?: string }];
    if (message.kind === "error") throw new Error(message.message);
    if (message.kind === kind) return message as T;
  }
}

/** A gateway in one process, SSE readers in another; tokens flow once all readers are connected. */
export async function runStreams(
  order: StreamOrder,
  readersPerStream = 1,
): Promise<{ result: StreamResult; rss: number }> {
  const server = start("./stream-server.ts");
  const { url } = await heard<{ url: string }>(server, "ready");
  const client = start("./stream-client.ts");
  await heard(client, "ready");
  const started = heard<{ streams: string[] }>(server, "started");
  server.send({ kind: "start", order });
  const { streams } = await started;
  const urls = streams.flatMap((stream) =>
    Array.from({ length: readersPerStream }, () => `${url}/v1/stream/${stream}?live=sse&offset=-1`),
  );
  const connected = heard(client, "connected");
  const result = heard<StreamResult>(client, "result");
  client.send({ kind: "read", urls, tokens: order.tokens });
  await connected;
  server.send({ kind: "go" });
  const measured = await result;
  const told = heard<{ bytes: number }>(server, "rss");
  server.send({ kind: "rss" });
  const { bytes } = await told;
  const gone = [once(server, "exit"), once(client, "exit")];
  server.kill("SIGKILL");
  client.kill("SIGKILL");
  await Promise.all(gone);
  return { result: measured, rss: bytes };
}
