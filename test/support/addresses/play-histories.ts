import fc from "fast-check";
import type { TestStore } from "../stores.ts";
import { AddressWorld } from "./address-world.ts";
import { operation, type Operation } from "./operations.ts";
import { Pairs } from "./pairs.ts";

/** Operations of one history. */
const LEAST = 30;
const MOST = 50;

/**
 * Plays random histories, half of them with one memory for all conversations.
 * @returns how many operations there were, and which of them met
 */
export async function playHistories(
  store: TestStore,
  histories: number,
): Promise<{ operations: number; pairs: Pairs }> {
  const pairs = new Pairs();
  let played = 0;
  for (const memory of ["conversation", "shared"] as const) {
    const world = await AddressWorld.make(store, memory);
    const play = async (operations: Operation[]): Promise<void> => {
      await world.play(operations);
      pairs.note(operations);
      played += operations.length;
    };
    const any = fc.array(operation, { minLength: LEAST, maxLength: MOST, size: "max" });
    try {
      // Nothing is shrunk: the world has gone on since. The seed and the path play a history again.
      await fc.assert(fc.asyncProperty(any, play), { numRuns: Math.ceil(histories / 2), endOnFailure: true });
    } finally {
      await world.dispose();
    }
  }
  return { operations: played, pairs };
}
