import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { agent } from "../agents/agent-factory.ts";
import type { Channel, ChannelFactory } from "../channels/channel.ts";
import { createGateway, type Gateway } from "./create-gateway.ts";

const agents = { assistant: agent.fn((ctx) => `You said: ${ctx.text}`) };

const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "waybill-gateway-"));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function ready(gateway: Gateway): Promise<number> {
  return (await gateway.fetch(new Request("http://localhost/readyz"))).status;
}

/** A channel whose start takes as long as a test wants. */
function slowChannel() {
  const [starting, started] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const said: string[] = [];
  const channel: Channel = {
    kind: "slow",
    account: "main",
    authorize: () => true,
    sender: {
      channel: "slow",
      inTransaction: false,
      can: { edit: false, delete: false, preview: false },
      allows: () => true,
      split: (text) => [text],
      send: () => Promise.resolve({ kind: "sent", receipt: { platformId: "1" } }),
      reconcile: () => Promise.resolve({ kind: "send-again" }),
    },
    async start() {
      starting.resolve();
      await started.promise;
      said.push("started");
    },
    async stop() {
      said.push("stopped");
    },
  };
  const factory: ChannelFactory = { kind: "slow", account: "main", connect: () => channel };
  return { factory, said, isStarting: starting.promise, letStart: started.resolve };
}

test("a gateway that is stopped while its store opens does not start, and leaves the store free", async () => {
  const dataDir = newFolder();
  const gateway = createGateway({ agents }, { dataDir });
  const starting = gateway.start();
  const stopping = gateway.stop();
  await expect(starting).rejects.toMatchObject({ code: "shutting_down" });
  await stopping;
  expect(await ready(gateway)).toBe(503);
  const next = createGateway({ agents }, { dataDir });
  await next.start();
  expect(await ready(next)).toBe(200);
  await next.stop();
});

test("a channel that had not finished starting when the gateway was stopped is stopped after that", async () => {
  const slow = slowChannel();
  const gateway = createGateway({ agents, channels: [slow.factory] }, { dataDir: newFolder() });
  const starting = gateway.start();
  await slow.isStarting;
  await gateway.stop();
  slow.letStart();
  await expect(starting).rejects.toMatchObject({ code: "shutting_down" });
  expect(slow.said.at(-1)).toBe("stopped");
  expect(slow.said).toContain("started");
  expect(await ready(gateway)).toBe(503);
});

test("a second start is refused at once, and the first goes on", async () => {
  const gateway = createGateway({ agents }, { dataDir: newFolder() });
  const first = gateway.start();
  await expect(gateway.start()).rejects.toThrow("started already");
  await first;
  expect(await ready(gateway)).toBe(200);
  await gateway.stop();
  await gateway.stop();
});
