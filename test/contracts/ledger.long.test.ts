/** Longer histories of the ledger, and more of them; a failure names the seed that repeats it. */
import fc from "fast-check";
import { test } from "vitest";
import { eachStore } from "../support/stores.ts";
import { openLedger } from "./ledger-harness.ts";
import { history, LedgerModel } from "./ledger-model.ts";

eachStore((store) => {
  test("any history keeps the rules, and everything accepted comes to an end", async () => {
    const fresh = await store.fresh();
    const db = await openLedger(fresh.databaseUrl);
    try {
      await fc.assert(
        fc.asyncProperty(history, history, async (first, then) => {
          const model = await LedgerModel.begin(db);
          for (const round of [...first, ...then]) await model.round(round);
          await model.drain();
        }),
        { numRuns: 1_000, interruptAfterTimeLimit: 240_000 },
      );
    } finally {
      await db.close();
      await fresh.dispose();
    }
  });
});
