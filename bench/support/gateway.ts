import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunningGateway } from "../../src/gateway/create-gateway.ts";
import type { GatewayOptions } from "../../src/gateway/options.ts";
import type { WaybillConfig } from "../../src/gateway/settings.ts";
import type { Accepted } from "../../src/turns/incoming.ts";

/** A gateway on a SQLite file of its own, as `npm start` has it (WAL, synchronous=FULL). */
export async function benchGateway(config: WaybillConfig, options: GatewayOptions = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const running = new RunningGateway(config, { dataDir, ...options });
  await running.start();
  let messages = 0;
  return {
    running,
    parts: running.parts,
    /** A message to a web DM through the same inbox that HTTP uses. */
    say(conversation: string, text: string): Promise<Accepted> {
      messages += 1;
      const address = `web:main/${conversation}`;
      return running.parts.inbox.accept({
        place: { address, parent: null, channel: "web", account: "main", kind: "dm" },
        id: `m${messages}`,
        sender: { id: "bench", name: null },
        principal: null,
        text,
        parts: [{ type: "text", text }],
      });
    },
    async stop(): Promise<void> {
      await running.stop(0);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type BenchGateway = Awaited<ReturnType<typeof benchGateway>>;

/** Resolves each run's promise when its answer is committed and posted. */
export function watchEnds(gateway: BenchGateway): (run: string) => Promise<void> {
  const ended = new Set<string>();
  const waiting = new Map<string, () => void>();
  gateway.parts.feed.subscribe(null, (hint) => {
    if (hint.kind !== "run" || hint.state === "running" || hint.state === "queued") return;
    const resolve = waiting.get(hint.run);
    waiting.delete(hint.run);
    if (resolve) resolve();
    else ended.add(hint.run);
  });
  return (run) =>
    new Promise((resolve) => {
      if (ended.delete(run)) resolve();
      else waiting.set(run, resolve);
    });
}
