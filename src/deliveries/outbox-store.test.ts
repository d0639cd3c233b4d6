import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failing, through } from "../../test/support/failing-database.ts";
import { OutboxBench, tests as retry } from "../../test/support/outbox-bench.ts";
import { eachStore } from "../../test/support/stores.ts";
import type { Database } from "../db/database.ts";
import { WaybillError } from "../kernel/errors.ts";
import { claimOps } from "./claim-ops.ts";
import { settleOp } from "./settle-op.ts";

const forever = () => new Promise<never>(() => {});

eachStore((store) => {
  let bench: OutboxBench;
  beforeEach(async () => {
    bench = await OutboxBench.open(store);
  });
  afterEach(() => bench.close());

  describe("a store that fails", () => {
    const away = () => Promise.reject(new WaybillError("store_unavailable", "The store is away."));

    test("between the platform's answer and its receipt: the receipt is stored when it is back", async () => {
      const [id = ""] = await bench.lay(bench.plan("hello"));
      let failures = 0;
      const db = failing(bench.db, (name) => name === settleOp.name && failures++ < 2, away);
      bench.outbox({ db }).wake();
      await bench.until(() => bench.platform.posts.length === 1);
      while (failures < 3) {
        bench.clock.advance(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await bench.untilState(id, "delivered");
      expect(bench.platform.asked).toEqual(["create hello"]);
    });

    test("a claim whose answer is lost is given back, and nothing stays behind", async () => {
      const [id = ""] = await bench.lay(bench.plan("hello"));
      let lost = 0;
      const db: Database = {
        ...through(bench.db),
        async do(command, input) {
          const answer = await bench.db.do(command, input);
          if (command.name !== claimOps.name || lost > 0) return answer;
          lost += 1;
          return away();
        },
      };
      bench.outbox({ db }).wake();
      const done = bench.untilState(id, "delivered");
      let isDone = false;
      void done.then(() => (isDone = true));
      while (!isDone) {
        bench.clock.advance(250);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(bench.platform.texts).toEqual(["hello"]);
    });
  });

  describe("stopping", () => {
    test("sends what is due first", async () => {
      const ids = await bench.lay(bench.plan("one"), bench.plan("two"), bench.plan("three", "b"));
      const stopped = bench.outbox().stop(60_000);
      await stopped;
      for (const id of ids) expect((await bench.delivery(id)).state).toBe("delivered");
    });

    test("does not wait longer than it was told, and what it cuts is looked for by the next process", async () => {
      const { platform } = bench;
      platform.thenSend((op) => {
        platform.post(op);
        return forever();
      });
      const [id = ""] = await bench.lay(bench.plan("hello"));
      const outbox = bench.outbox();
      outbox.wake();
      await bench.until(() => platform.posts.length === 1);
      const stopped = outbox.stop(5_000);
      bench.clock.advance(5_000);
      await stopped;
      expect(await bench.ops(id)).toMatchObject([{ state: "pending", ambiguous: 1, owner: null }]);
      outbox.wake();
      bench.outbox({ owner: "boot_2" }).wake();
      await bench.untilState(id, "delivered");
      expect(platform.asked).toEqual(["create hello", "look hello"]);
    });
  });

  describe("nothing to do", () => {
    test("is asked about seldom: an op behind one that hangs does not keep the store busy", async () => {
      bench.platform.thenSend(forever);
      await bench.lay(bench.plan("first"), bench.plan("second"));
      let claims = 0;
      const db = failing(
        bench.db,
        (name) => (name === claimOps.name && claims++ < 0 ? true : false),
        forever,
      );
      bench.outbox({ db, retry: { ...retry, timeoutMs: 1_000_000 } }).wake();
      await bench.until(() => bench.platform.asked.length === 1);
      for (let second = 0; second < 60; second += 1) {
        await bench.pass(1_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(claims).toBeLessThan(20);
    });

    test("a channel that posts within the transaction has no outbox", async () => {
      const inTransaction = Object.assign(bench.newPlatform("web"), { inTransaction: true });
      let claims = 0;
      const db = failing(bench.db, () => claims++ < 0, forever);
      const outbox = bench.outbox({ db, senders: new Map([["web", inTransaction]]) });
      outbox.wake();
      await outbox.stop(0);
      expect(claims).toBe(0);
    });
  });
});
