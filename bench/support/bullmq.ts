import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue, Worker } from "bullmq";
import { freePort } from "./free-port.ts";

/** A Redis of our own that syncs every write to disk before it answers. */
async function durableRedis(): Promise<{ port: number; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), "waybill-redis-"));
  const port = await freePort();
  const flags = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, "--save", ""];
  const server = spawn("redis-server", [...flags, "--appendonly", "yes", "--appendfsync", "always"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const chunk of server.stdout) {
    if (String(chunk).includes("Ready to accept connections")) break;
  }
  server.stdout.resume();
  return {
    port,
    async stop() {
      const gone = once(server, "exit");
      server.kill("SIGKILL");
      await gone;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Jobs a second: `inFlight` producers that each add a job and wait until it is completed. */
export async function bullmq(jobs: number, inFlight: number): Promise<number> {
  const redis = await durableRedis();
  const connection = { host: "127.0.0.1", port: redis.port, maxRetriesPerRequest: null };
  const queue = new Queue("bench", { connection });
  const waiting = new Map<string, () => void>();
  const worker = new Worker("bench", () => Promise.resolve(), { connection, concurrency: inFlight });
  // The end of a job is its completion on disk, as the end of a turn is its commit.
  worker.on("completed", (job) => {
    const { key } = job.data as { key: string };
    waiting.get(key)?.();
    waiting.delete(key);
  });
  await worker.waitUntilReady();
  let next = 0;
  const produce = async (): Promise<void> => {
    while (next < jobs) {
      next += 1;
      const key = `j${next}`;
      const handled = new Promise<void>((resolve) => waiting.set(key, resolve));
      await queue.add("noop", { key });
      await handled;
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: inFlight }, produce));
  const rate = (jobs / (performance.now() - from)) * 1_000;
  await worker.close(true);
  await queue.close();
  await redis.stop();
  return rate;
}
