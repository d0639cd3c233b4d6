import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { eachStore } from "../../test/support/stores.ts";
import { agent } from "../agents/agent-factory.ts";
import type { ChannelFactory, Hold } from "../channels/channel.ts";
import { silentLogger } from "../kernel/logger.ts";
import { takeHold } from "../ledger/holds.ts";
import { leaveNode, registerNode } from "../ledger/nodes.ts";
import { RunningGateway } from "./create-gateway.ts";
import { HoldKeeper } from "./hold-keeper.ts";

const idle = agent.fn(async () => "done");

async function startGateway(databaseUrl?: string, channels: ChannelFactory[] = []) {
  const dataDir = await mkdtemp(path.join(tmpdir(), "waybill-hold-"));
  const gateway = new RunningGateway({ agents: { idle }, channels }, { dataDir, databaseUrl });
  await gateway.start();
  const close = async (): Promise<void> => {
    await gateway.stop(0);
    await rm(dataDir, { recursive: true, force: true });
  };
  return { gateway, close };
}

function heldOf(hold: Hold): Extract<Hold, { held: true }> {
  if (!hold.held) throw new Error(`It is held by ${hold.by}.`);
  return hold;
}

eachStore((store) => {
  test("of the nodes of one store one has it, and the next when that one has gone", async () => {
    const fresh = await store.fresh();
    const { gateway, close } = await startGateway(fresh.databaseUrl);
    const { db, services } = gateway.parts;
    const { tenant } = services;
    const node = { tenant, host: "elsewhere", pid: 4711, leaseMs: 60_000, agents: [], channels: [] };
    await db.do(registerNode, { ...node, boot: "boot_other" });
    const name = `poller:${randomUUID()}`;
    expect(await db.do(takeHold, { tenant, boot: "boot_other", name })).toBeNull();
    const second = await gateway.parts.holds.take(name);
    expect(second).toMatchObject({ held: false, by: "process 4711 on elsewhere" });
    await db.do(leaveNode, { tenant, boot: "boot_other" });
    if (second.held) throw new Error("It was held.");
    gateway.parts.holds.beat();
    await second.freed;
    const third = heldOf(await gateway.parts.holds.take(name));
    expect(await db.do(takeHold, { tenant, boot: "boot_third", name })).toContain(`process ${process.pid}`);
    await third.release();
    expect(await db.do(takeHold, { tenant, boot: "boot_third", name })).toBeNull();
    await close();
    await fresh.dispose();
  });
});

test("a second gateway with a store of its own stands by, and a lost lease frees the hold", async () => {
  const [one, two] = [await startGateway(), await startGateway()];
  const name = `poller:${randomUUID()}`;
  const first = heldOf(await one.gateway.parts.holds.take(name));
  expect(await two.gateway.parts.holds.take(name)).toMatchObject({
    held: false,
    by: "another process of this machine",
  });
  one.gateway.parts.holds.loseAll();
  expect(first.lost.aborted).toBe(true);
  expect((await two.gateway.parts.holds.take(name)).held).toBe(true);
  await Promise.all([one.close(), two.close()]);
});

test("a process that is killed frees what it had on this machine", async () => {
  const name = `poller:${randomUUID()}`;
  const child = fork(path.join(import.meta.dirname, "../../test/support/hold-process.ts"), [name]);
  await once(child, "message");
  const { gateway, close } = await startGateway();
  expect((await gateway.parts.holds.take(name)).held).toBe(false);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect((await gateway.parts.holds.take(name)).held).toBe(true);
  await close();
});

test("a channel that cannot work is off, with what to do; the others go on", async () => {
  const channel = (account: string, start: () => Promise<void>): ChannelFactory => ({
    kind: "broken",
    account,
    connect: () => ({
      kind: "broken",
      account,
      authorize: () => "nobody",
      start,
      sender: {
        channel: "broken",
        inTransaction: false,
        can: { edit: false, delete: false, preview: false },
        allows: () => "nothing goes there",
        split: (text) => [text],
        send: () => Promise.resolve({ kind: "refused", reason: "never" }),
        reconcile: () => Promise.resolve({ kind: "unknown", reason: "never" }),
      },
    }),
  });
  const bad = channel("a", () => Promise.reject(new Error("secret detail")));
  const good = channel("b", () => Promise.resolve());
  const { gateway, close } = await startGateway(undefined, [bad, good]);
  const answer = await gateway.fetch(new Request("http://127.0.0.1/v1/channels"));
  expect(await answer.json()).toEqual({
    items: [
      { kind: "web", account: "main", state: "on", reason: null },
      { kind: "broken", account: "a", state: "off", reason: expect.stringMatching(/./) },
      { kind: "broken", account: "b", state: "on", reason: null },
    ],
  });
  await close();
});

test("whoever cannot ask the store has nothing", async () => {
  const db = { do: () => Promise.reject(new Error("away")) } as never;
  const keeper = new HoldKeeper({ tenant: "t", boot: "b", db, log: silentLogger });
  const name = `poller:${randomUUID()}`;
  await expect(keeper.take(name)).rejects.toThrow("away");
  const { gateway, close } = await startGateway();
  expect((await gateway.parts.holds.take(name)).held).toBe(true);
  await close();
});
