import { expect, test } from "vitest";
import { playHistories } from "../support/addresses/play-histories.ts";
import { eachStore } from "../support/stores.ts";

/** Operations in all, on both stores together; `WAYBILL_OPERATIONS` plays more or fewer. */
const wanted = Number(process.env["WAYBILL_OPERATIONS"] ?? 100_000);

eachStore((store) => {
  test("a hundred thousand operations: each post where it was asked for, and every pair of them met", async () => {
    const { operations, pairs } = await playHistories(store, wanted / 2 / 40);
    const least = pairs.least(10);
    console.log(
      `${store.name}: ${operations} operations, ${pairs.size} pairs; those that met least: ` +
        least.map(({ pair, times }) => `${pair} ${times}`).join(", "),
    );
    expect(least[0]!.times).toBeGreaterThanOrEqual((100 * wanted) / 2 / 100_000);
  }, 3_600_000);
});
