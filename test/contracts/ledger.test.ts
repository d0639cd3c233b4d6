/** The rules of the ledger, on each store: by histories made at random, and the ones that are easy to get wrong by name. */
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { askAbort, stopPlace } from "../../src/ledger/ask-abort.ts";
import { leaveNode, renewLease } from "../../src/ledger/nodes.ts";
import { noteEvent, storeCheckpoint, storeProgress } from "../../src/ledger/note-run.ts";
import { requeueAstray } from "../../src/runs/recover-runs.ts";
import { eachStore, type FreshStore } from "../support/stores.ts";
import { LedgerHarness, openLedger } from "./ledger-harness.ts";
import { history, LedgerModel } from "./ledger-model.ts";

eachStore((store) => {
  let fresh: FreshStore;
  let db: Database;
  beforeAll(async () => {
    fresh = await store.fresh();
    db = await openLedger(fresh.databaseUrl);
  });
  afterAll(async () => {
    await db.close();
    await fresh.dispose();
  });

  test(
    "any history keeps the rules, and everything accepted comes to an end",
    { timeout: 60_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(history, async (rounds) => {
          const model = await LedgerModel.begin(db);
          for (const round of rounds) await model.round(round);
          await model.drain();
        }),
        { numRuns: 40, endOnFailure: true, interruptAfterTimeLimit: 25_000 },
      );
    },
  );

  describe("a claim", () => {
    test("takes the longest waiting first, one a lane, as many as wished", async () => {
      const ledger = new LedgerHarness(db);
      const node = await ledger.register();
      const asked: string[] = [];
      for (const lane of ["a", "a", "b", "c"]) {
        asked.push((await ledger.accept({ lane })).accepted.run ?? "");
      }
      const [first, , third, fourth] = asked;
      const idsOf = async (limit: number) =>
        (await ledger.claim(node, limit)).map(({ run }) => run.id).toSorted();
      expect(await idsOf(2)).toEqual([first, third]);
      expect(await idsOf(9)).toEqual([fourth]);
      expect(await idsOf(9)).toEqual([]);
    });

    test("takes only agents that its node has", async () => {
      const ledger = new LedgerHarness(db);
      const node = await ledger.register([{ name: "worker", version: "1" }]);
      await ledger.accept({ lane: "a", agent: "assistant" });
      expect(await ledger.claim(node, 9, [{ name: "worker", version: "1" }])).toEqual([]);
    });

    test("leaves another version to a live node that has it, and takes it when there is none", async () => {
      const ledger = new LedgerHarness(db);
      const newer = [{ name: "assistant", version: "2" }];
      const [old, recent] = [await ledger.register(), await ledger.register(newer)];
      const { accepted } = await ledger.accept({ lane: "a", version: "1" });
      expect(await ledger.claim(recent, 9, newer)).toEqual([]);
      await ledger.expire(old);
      const [claim] = await ledger.claim(recent, 9, newer);
      expect(claim?.run.id).toBe(accepted.run);
    });

    test("of a node that was taken for dead, or has left, takes nothing", async () => {
      const ledger = new LedgerHarness(db);
      const [dead, gone, alive] = [await ledger.register(), await ledger.register(), await ledger.register()];
      await ledger.expire(dead);
      await ledger.recover(alive);
      await db.do(leaveNode, { tenant: ledger.tenant, boot: gone });
      await ledger.accept({ lane: "a" });
      expect(await ledger.claim(dead)).toEqual([]);
      expect(await ledger.claim(gone)).toEqual([]);
      expect(await ledger.claim(alive)).toHaveLength(1);
    });
  });

  test("a run that the same node has claimed again is lost to its older claim", async () => {
    const ledger = new LedgerHarness(db);
    const node = await ledger.register();
    await ledger.accept({ lane: "a" });
    const [older] = await ledger.claim(node);
    await requeueAstray(ledger.services(node), { has: () => false });
    const [newer] = await ledger.claim(node);
    if (!older || !newer) throw new Error("nothing was claimed");
    expect(newer.run.id).toBe(older.run.id);
    await expect(ledger.finish(older, "completed")).rejects.toMatchObject({ code: "run_lost" });
    await expect(ledger.say(older)).rejects.toMatchObject({ code: "run_lost" });
    await ledger.finish(newer, "completed");
    expect(await ledger.run(newer.run.id)).toMatchObject({ state: "completed", attempts: 2 });
  });

  describe("a node whose lease ran out", () => {
    test("cannot renew it once it was taken for dead, and can until then", async () => {
      const ledger = new LedgerHarness(db);
      const [late, alive] = [await ledger.register(), await ledger.register()];
      const renew = { tenant: ledger.tenant, boot: late, leaseMs: 60_000 };
      await ledger.expire(late);
      expect(await db.do(renewLease, renew)).toMatchObject({ renewed: true });
      await ledger.recover(alive);
      expect(await db.do(renewLease, renew)).toMatchObject({ renewed: true });
      await ledger.expire(late);
      await ledger.recover(alive);
      expect(await db.do(renewLease, renew)).toMatchObject({ renewed: false });
    });

    test("can write nothing any more about a run that was taken over, in whatever way", async () => {
      const ledger = new LedgerHarness(db);
      const [dead, alive] = [await ledger.register(), await ledger.register()];
      await ledger.accept({ lane: "a" });
      const [claim] = await ledger.claim(dead);
      if (!claim) throw new Error("nothing was claimed");
      await ledger.expire(dead);
      expect(await ledger.recover(alive)).toMatchObject({ interrupted: 1, requeued: 0 });
      const before = await ledger.run(claim.run.id);
      const { fence } = claim;
      const attempts = [
        () => ledger.finish(claim, "completed"),
        () => ledger.say(claim),
        () => ledger.start(claim),
        () => ledger.absorb(claim),
        () => db.do(storeProgress, { fence, text: "half", percent: 50 }),
        () => db.do(storeCheckpoint, { fence, value: "1" }),
        () => db.do(noteEvent, { fence, kind: "send_refused", data: null }),
      ];
      for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: "run_lost" });
      expect(await ledger.run(claim.run.id)).toEqual(before);
      expect(before).toMatchObject({ state: "interrupted", reason: "lease_lost", fence: fence.fence + 1 });
    });

    test("loses its runs to one of two that recover them at once, with one notice each", async () => {
      const ledger = new LedgerHarness(db);
      const [dead, one, two] = [await ledger.register(), await ledger.register(), await ledger.register()];
      for (const lane of ["a", "b", "c", "d"]) await ledger.accept({ lane });
      expect(await ledger.claim(dead)).toHaveLength(4);
      await ledger.expire(dead);
      const counts = await Promise.all([ledger.recover(one), ledger.recover(two)]);
      expect(counts[0].interrupted + counts[1].interrupted).toBe(4);
      const notices = (await ledger.deliveries()).filter(({ kind }) => kind === "notice");
      expect(notices).toHaveLength(4);
    });

    test("whose agent may be repeated has its run queued again, at most three times in all", async () => {
      const ledger = new LedgerHarness(db);
      const alive = await ledger.register();
      const { accepted } = await ledger.accept({ lane: "a", recovery: "retry" });
      await ledger.accept({ lane: "a" });
      for (const attempt of [1, 2, 3]) {
        const node = await ledger.register();
        const [claim] = await ledger.claim(node);
        expect(claim?.run).toMatchObject({ id: accepted.run, attempt });
        await ledger.expire(node);
        const expected = attempt < 3 ? { requeued: 1, interrupted: 0 } : { requeued: 0, interrupted: 1 };
        expect(await ledger.recover(alive)).toMatchObject(expected);
      }
      expect(await ledger.run(accepted.run ?? "")).toMatchObject({ state: "interrupted", attempts: 3 });
    });
  });

  describe("a job", () => {
    test("of a parent that was cancelled meanwhile never starts", async () => {
      const ledger = new LedgerHarness(db);
      const node = await ledger.register();
      await ledger.accept({ lane: "a" });
      const [claim] = await ledger.claim(node);
      if (!claim) throw new Error("nothing was claimed");
      const job = await ledger.start(claim);
      await db.do(askAbort, { tenant: ledger.tenant, run: claim.run.id, cause: "cancel", reason: "cancel" });
      await ledger.finish(claim, "completed");
      expect(await ledger.run(claim.run.id)).toMatchObject({ state: "cancelled" });
      expect(await ledger.run(job)).toMatchObject({ state: "cancelled", reason: "parent", attempts: 0 });
    });

    test("of a parent that dies never starts, and one that was acknowledged before goes on", async () => {
      const ledger = new LedgerHarness(db);
      const [dead, alive] = [await ledger.register(), await ledger.register()];
      await ledger.accept({ lane: "a" });
      const [claim] = await ledger.claim(dead);
      if (!claim) throw new Error("nothing was claimed");
      const told = await ledger.start(claim);
      expect(await ledger.say(claim)).toEqual({ released: [told] });
      const untold = await ledger.start(claim);
      await ledger.expire(dead);
      await ledger.recover(alive);
      expect(await ledger.run(untold)).toMatchObject({ state: "cancelled", attempts: 0 });
      expect((await ledger.claim(alive)).map(({ run }) => run.id)).toEqual([told]);
    });
  });
});

eachStore((store) => {
  test("commands of one place at once never lock each other out", { timeout: 60_000 }, async () => {
    const fresh = await store.fresh();
    const db = await openLedger(fresh.databaseUrl);
    try {
      await crowd(new LedgerHarness(db));
    } finally {
      await db.close();
    }
    // A deadlock would have been tried again and come out right, a second later: only the server's count tells.
    const deadlocks = store.name === "postgres" ? await deadlocksIn(fresh.databaseUrl) : 0;
    await fresh.dispose();
    expect(deadlocks).toBe(0);
  });
});

/** Twelve people and agents do at once, in one place, all that a place can see. */
async function crowd(ledger: LedgerHarness): Promise<void> {
  const node = await ledger.register();
  const { tenant, db } = ledger;
  const { address } = ledger.place("a");
  let speaking = 6;
  const speak = async (i: number): Promise<void> => {
    for (let n = 0; n < 12; n += 1) {
      await ledger.accept({ lane: "a", followUp: i % 2 ? "interrupt" : "queue", background: i % 3 === 0 });
    }
    speaking -= 1;
  };
  const stop = async (): Promise<void> => {
    while (speaking > 0) await db.do(stopPlace, { tenant, address, reason: "cancel" });
  };
  const work = async (): Promise<void> => {
    for (;;) {
      const last = speaking === 0;
      const claims = await ledger.claim(node, 4);
      if (last && claims.length === 0) return;
      await Promise.all(
        claims.map(async (claim) => {
          const isJob = !claim.run.foreground; // A job starts none, or this would never end.
          await Promise.all([
            ledger.say(claim),
            ...(isJob ? [] : [ledger.start(claim), ledger.absorb(claim)]),
          ]);
          await ledger.finish(claim, "completed");
        }),
      );
    }
  };
  await Promise.all([...[0, 1, 2, 3, 4, 5].map(speak), stop(), work(), work()]);
}

async function deadlocksIn(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ deadlocks: string }>(
      "select deadlocks from pg_stat_database where datname = current_database()",
    );
    return Number(rows[0]?.deadlocks);
  } finally {
    await client.end();
  }
}
