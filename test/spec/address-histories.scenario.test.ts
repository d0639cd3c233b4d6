import { expect } from "vitest";
import { playHistories } from "../support/addresses/play-histories.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";

eachStore((store) => {
  scenario(
    ["ADDR-1", "ADDR-3", "ADDR-4", "ADDR-8", "ADDR-13"],
    "after any history of turns, tools, restarts and kills the posts are exactly those that were asked for",
    async () => {
      const { operations } = await playHistories(store, 4);
      expect(operations).toBeGreaterThanOrEqual(120);
    },
    120_000,
  );
});
