import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OutboxBench, tenant, tests as retry } from "../../test/support/outbox-bench.ts";
import { eachStore } from "../../test/support/stores.ts";
import { registerNode } from "../ledger/nodes.ts";
import { recoverCommands } from "../runs/recover-runs.ts";
import { claimOps } from "./claim-ops.ts";
import type { OutgoingOp, SendOutcome } from "./sender.ts";
import { settleOp } from "./settle-op.ts";

const later: SendOutcome = { kind: "retry", reason: "busy" };
const unclear: SendOutcome = { kind: "unclear", reason: "no answer" };
const forever = () => new Promise<never>(() => {});

eachStore((store) => {
  let bench: OutboxBench;
  beforeEach(async () => {
    bench = await OutboxBench.open(store);
  });
  afterEach(() => bench.close());

  describe("unclear attempts", () => {
    test("one that the platform did accept is found and not sent again: one post", async () => {
      const { platform } = bench;
      platform.thenSend((op) => {
        platform.post(op);
        return unclear;
      });
      const [id = ""] = await bench.lay(bench.plan("hello"));
      bench.outbox().wake();
      await bench.untilSettled(1);
      expect(await bench.delivery(id)).toMatchObject({ state: "sending", receipts: [] });
      await bench.pass(1_000);
      await bench.untilState(id, "delivered");
      expect(platform.asked).toEqual(["create hello", "look hello"]);
      expect(await bench.delivery(id)).toMatchObject({ receipts: ["post-1"] });
    });

    test("one that the platform did not accept is sent again under the same key", async () => {
      bench.platform.thenSend(unclear);
      const [id = ""] = await bench.lay(bench.plan("hello"));
      bench.outbox().wake();
      await bench.untilSettled(1);
      await bench.pass(1_000);
      await bench.untilState(id, "delivered");
      expect(bench.platform.asked).toEqual(["create hello", "look hello", "create hello"]);
      expect(new Set(bench.platform.ops.map((op) => op.key)).size).toBe(1);
    });

    test("one that never answers is cut after its time, also by a sender that ignores the signal", async () => {
      const { platform } = bench;
      platform.thenSend((op) => {
        platform.post(op);
        return forever();
      });
      const [id = ""] = await bench.lay(bench.plan("hello"));
      bench.outbox().wake();
      await bench.until(() => platform.posts.length === 1);
      bench.clock.advance(retry.timeoutMs);
      await bench.untilSettled(1);
      await bench.pass(1_000);
      await bench.untilState(id, "delivered");
      expect(platform.texts).toEqual(["hello"]);
    });

    test("what cannot be settled is unknown, and never sent again by itself; the next op goes on", async () => {
      bench.platform.thenSend(unclear);
      bench.platform.thenLook({ kind: "unknown", reason: "cannot look" });
      const [id = "", next = ""] = await bench.lay(bench.plan("hello"), bench.plan("next"));
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilSettled(1);
      await bench.pass(1_000);
      await bench.untilState(next, "delivered");
      expect(await bench.delivery(id)).toMatchObject({ state: "unknown", reason: "cannot look" });
      await bench.pass(3_600_000);
      await outbox.stop(0);
      expect(bench.platform.asked).toEqual(["create hello", "look hello", "create next"]);
      await bench.retryByHand(id);
      bench.outbox().wake();
      await bench.untilState(id, "delivered");
    });

    test("the last attempt too is looked for before it is given up", async () => {
      const { platform } = bench;
      platform.thenSend(later, later, later, (op) => {
        platform.post(op);
        return unclear;
      });
      const [id = ""] = await bench.lay(bench.plan("hello"));
      bench.outbox().wake();
      for (let n = 1; n <= 4; n += 1) {
        await bench.untilSettled(n);
        await bench.pass(60_000);
      }
      await bench.untilState(id, "delivered");
      expect(platform.texts).toEqual(["hello"]);
    });

    test("a platform that cannot be asked for long makes it unknown, not dead", async () => {
      bench.platform.thenSend(unclear);
      bench.platform.thenLook(
        ...Array.from({ length: 20 }, () => ({ kind: "retry", reason: "down" }) as const),
      );
      const [id = ""] = await bench.lay(bench.plan("hello"));
      bench.outbox().wake();
      for (let n = 1; n <= 8; n += 1) {
        await bench.untilSettled(n);
        if ((await bench.delivery(id)).state === "unknown") break;
        await bench.pass(60_000);
      }
      expect(await bench.delivery(id)).toMatchObject({ state: "unknown", reason: "down" });
      expect(bench.platform.asked.filter((what) => what === "create hello")).toHaveLength(1);
    });
  });

  describe("an allowlist that changed", () => {
    test("blocks with its reason; nothing goes there or anywhere else, and by hand it goes there", async () => {
      const { platform } = bench;
      platform.denied = "the conversation is no longer allowed";
      const [id = ""] = await bench.lay(bench.plan("one|two"));
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilState(id, "blocked");
      expect(await bench.delivery(id)).toMatchObject({ reason: "the conversation is no longer allowed" });
      expect(platform.asked).toEqual([]);
      platform.denied = null;
      await bench.retryByHand(id);
      outbox.wake();
      await bench.untilState(id, "delivered");
      expect(platform.texts).toEqual(["one", "two"]);
    });

    test("does not make us forget that an earlier attempt may have been posted", async () => {
      const { platform } = bench;
      platform.thenSend((op) => {
        platform.post(op);
        return unclear;
      });
      const [id = ""] = await bench.lay(bench.plan("hello"));
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilSettled(1);
      platform.denied = "closed";
      await bench.pass(1_000);
      await bench.untilState(id, "blocked");
      platform.denied = null;
      await bench.retryByHand(id);
      outbox.wake();
      await bench.untilState(id, "delivered");
      expect(platform.texts).toEqual(["hello"]);
    });
  });

  describe("a process that dies", () => {
    const node = (boot: string, leaseMs: number) =>
      bench.db.do(registerNode, { tenant, boot, host: "here", pid: 1, leaseMs, agents: [] });
    const bury = (me: string) => bench.db.do(recoverCommands[0], { tenant, me, everybody: true });

    test("between attempt and receipt: the next one looks first, and there is one post", async () => {
      await node("boot_dead", 1_000);
      const ids = await bench.lay(bench.plan("first"), bench.plan("second"));
      const claim = { tenant, owner: "boot_dead", channel: "fake", limit: 10, inHand: null };
      const [op] = await bench.db.do(claimOps, claim);
      bench.platform.post({ ...op!, key: op!.id, address: { conversation: "a" } } as unknown as OutgoingOp);
      await node("boot_1", 1_000);
      await bury("boot_1");
      bench.outbox().wake();
      for (const id of ids) await bench.untilState(id, "delivered");
      expect(bench.platform.asked).toEqual(["look first", "create second"]);
      expect(bench.platform.texts).toEqual(["first", "second"]);
      const late = { kind: "done", platformId: "x", permalink: null } as const;
      const fromTheDead = { tenant, op: op!.id, owner: "boot_dead", fence: op!.fence, settlement: late };
      expect(await bench.db.do(settleOp, fromTheDead)).toBeNull();
    });

    test("one that was only taken for dead claims nothing more", async () => {
      await node("boot_1", 1_000);
      await bury("boot_2");
      const [id = ""] = await bench.lay(bench.plan("hello"));
      const claim = { tenant, channel: "fake", limit: 10, inHand: null };
      expect(await bench.db.do(claimOps, { ...claim, owner: "boot_1" })).toEqual([]);
      expect(await bench.db.do(claimOps, { ...claim, owner: "boot_2" })).toMatchObject([{ delivery: id }]);
    });
  });
});
