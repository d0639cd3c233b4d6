import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OutboxBench, tests as retry } from "../../test/support/outbox-bench.ts";
import { eachStore } from "../../test/support/stores.ts";
import { spyOnPauses } from "../../test/support/failing-database.ts";
import type { SendOutcome } from "./sender.ts";

const later: SendOutcome = { kind: "retry", reason: "busy" };
const forever = () => new Promise<never>(() => {});

eachStore((store) => {
  let bench: OutboxBench;
  beforeEach(async () => {
    bench = await OutboxBench.open(store);
  });
  afterEach(() => bench.close());

  describe("order", () => {
    test("ops of one address go one by one in order, and other addresses do not wait for them", async () => {
      let release = (): void => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      const { platform } = bench;
      platform.thenSend(async (op) => {
        await held;
        return platform.post(op);
      });
      await bench.lay(bench.plan("a1"), bench.plan("a2"), bench.plan("a3"));
      const outbox = bench.outbox();
      outbox.wake();
      await bench.until(() => platform.asked.length === 1);
      await bench.lay(bench.plan("b1", "b"), bench.plan("b2", "b"));
      outbox.wake();
      await bench.untilSettled(2);
      expect(platform.texts).toEqual(["b1", "b2"]);
      release();
      await bench.untilSettled(5);
      expect(platform.texts).toEqual(["b1", "b2", "a1", "a2", "a3"]);
    });

    test("a long answer is posted in its pieces and keeps a receipt of each", async () => {
      const [id = ""] = await bench.lay(bench.plan("one |two |three"));
      bench.outbox().wake();
      await bench.untilState(id, "delivered");
      expect(bench.platform.texts).toEqual(["one ", "two ", "three"]);
      expect((await bench.delivery(id)).receipts).toEqual(["post-1", "post-2", "post-3"]);
    });

    test("when a piece is refused the rest is not posted; by hand only what is missing goes out, in order", async () => {
      const { platform } = bench;
      platform.thenSend((op) => platform.post(op), { kind: "refused", reason: "too rude" });
      const [id = "", next = ""] = await bench.lay(bench.plan("one|two|three"), bench.plan("another"));
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilState(next, "delivered");
      expect(platform.texts).toEqual(["one", "another"]);
      expect(await bench.delivery(id)).toMatchObject({ state: "dead", reason: "too rude" });
      await bench.retryByHand(id);
      outbox.wake();
      await bench.untilState(id, "delivered");
      expect(platform.texts).toEqual(["one", "another", "two", "three"]);
    });

    test("thousands of ops of a dead address hold up nobody: only the first of them is ever due", async () => {
      bench.platform.thenSend(forever);
      const many = store.name === "sqlite" ? 10_000 : 2_000;
      await bench.lay(...Array.from({ length: many }, (_, n) => bench.plan(`dead ${n}`, "dead")));
      const outbox = bench.outbox();
      outbox.wake();
      await bench.until(() => bench.platform.asked.length === 1);
      const due = await bench.db.query((k) =>
        k
          .selectFrom("ops")
          .select("id")
          .where("state", "=", "pending")
          .where("next_at", "<", 2 ** 50),
      );
      expect(due).toEqual([]);
      const [id = ""] = await bench.lay(bench.plan("alive", "b"));
      outbox.wake();
      await bench.untilState(id, "delivered");
    });

    test("a platform that hangs on everything does not hold up another one", async () => {
      const hanging = bench.newPlatform("hanging");
      hanging.thenSend(...Array.from({ length: 200 }, () => forever));
      const plans = Array.from({ length: 200 }, (_, n) => bench.plan(`x${n}`, `c${n}`, {}, "hanging"));
      const [id = ""] = await bench.lay(bench.plan("fine"), ...plans);
      const senders = new Map([
        ["hanging", hanging],
        ["fake", bench.platform],
      ]);
      bench.outbox({ senders }).wake();
      await bench.untilState(id, "delivered");
      await bench.until(() => hanging.asked.length === 64);
    });
  });

  describe("retries", () => {
    test("the pauses double up to their limit, and nothing is sent before they are over", async () => {
      const outcomes = [later, later, later];
      bench.platform.thenSend(...outcomes);
      const [id = ""] = await bench.lay(bench.plan("hello"));
      const pauses: number[] = [];
      const db = spyOnPauses(bench.db, (inMs) => pauses.push(inMs));
      bench.outbox({ db, retry: { ...retry, mostMs: 3_000 } }).wake();
      for (const [n, pause] of [1_000, 2_000, 3_000].entries()) {
        await bench.untilSettled(n + 1);
        expect(pauses).toHaveLength(n + 1);
        if (store.name === "sqlite") {
          await bench.pass(pause - 1);
          expect(bench.platform.asked).toHaveLength(n + 1);
          await bench.pass(1);
        } else {
          await bench.pass(pause);
        }
      }
      await bench.untilState(id, "delivered");
      expect(pauses).toEqual([1_000, 2_000, 3_000]);
      expect(await bench.delivery(id)).toMatchObject({ attempts: 4, receipts: ["post-1"], reason: null });
    });

    test("half of a pause is by chance", async () => {
      bench.platform.thenSend(later);
      await bench.lay(bench.plan("hello"));
      const pauses: number[] = [];
      const db = spyOnPauses(bench.db, (inMs) => pauses.push(inMs));
      bench.outbox({ db, random: () => 0 }).wake();
      await bench.untilSettled(1);
      expect(pauses).toEqual([500]);
    });

    test("a platform that says when is not asked before", async () => {
      bench.platform.thenSend({ kind: "retry", reason: "429", afterMs: 90_000 });
      const [id = ""] = await bench.lay(bench.plan("hello"));
      const pauses: number[] = [];
      const db = spyOnPauses(bench.db, (inMs) => pauses.push(inMs));
      bench.outbox({ db }).wake();
      await bench.untilSettled(1);
      expect(pauses).toEqual([90_000]);
      expect(await bench.delivery(id)).toMatchObject({ state: "sending", reason: "429" });
      await bench.pass(90_000);
      await bench.untilState(id, "delivered");
    });

    test("after the last attempt it is a dead letter, the next op goes on, and it can be sent by hand", async () => {
      bench.platform.thenSend(later, later, later, later);
      const [id = "", next = ""] = await bench.lay(bench.plan("hello"), bench.plan("next"));
      const outbox = bench.outbox();
      outbox.wake();
      for (let n = 1; n <= 3; n += 1) {
        await bench.untilSettled(n);
        await bench.pass(60_000);
      }
      await bench.untilState(id, "dead");
      await bench.untilState(next, "delivered");
      expect((await bench.delivery(id)).reason).toBe("gave up after 4 attempts: busy");
      await bench.pass(600_000);
      outbox.wake();
      expect(await bench.retryByHand(id)).toEqual({ state: "pending" });
      outbox.wake();
      await bench.untilState(id, "delivered");
      expect(bench.platform.texts).toEqual(["next", "hello"]);
      await expect(bench.retryByHand(id)).rejects.toMatchObject({ code: "delivery_not_retryable" });
    });

    test("a sender with a defect does not leave its op behind", async () => {
      const { platform } = bench;
      platform.allows = () => {
        throw new TypeError("a defect");
      };
      const [id = ""] = await bench.lay(bench.plan("hello"));
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilSettled(1);
      expect(await bench.delivery(id)).toMatchObject({ state: "sending", reason: "a defect" });
      platform.allows = () => true;
      await bench.pass(1_000);
      await bench.untilState(id, "delivered");
    });
  });
});
