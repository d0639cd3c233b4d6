import { command } from "../db/command.ts";
import { recordDelivery, type NewDelivery } from "../deliveries/record-delivery.ts";
import { hold, releaseJobs } from "../ledger/end-run.ts";
import { noteRun } from "../ledger/note-run.ts";
import type { Fence } from "../ledger/run.ts";
import { remember, type MemoryItem } from "../turns/memory.ts";

export interface PostFromRunInput {
  fence: Fence;
  delivery: NewDelivery;
  scope: string;
  /** Set for what is said in the turn's own place: there the agent remembers it, and jobs begin with it. */
  said: MemoryItem | null;
}

/**
 * What a live run says or sends before its answer.
 * @throws WaybillError `run_lost`
 */
export const postFromRun = command("runs.post-from-run", function* (input: PostFromRunInput, env) {
  const { fence, delivery } = input;
  yield* hold(fence);
  yield* recordDelivery(delivery, env.now);
  const kind = input.said ? "said" : "sent";
  yield* noteRun(
    fence,
    kind,
    { delivery: delivery.id, address: delivery.place.address, rule: delivery.rule },
    env.now,
  );
  if (!input.said) return { released: [] as string[] };
  yield* remember(fence.tenant, input.scope, input.said, env.now);
  return {
    released: delivery.mode === "blocked" ? [] : yield* releaseJobs(fence.tenant, fence.run, env.now),
  };
});
