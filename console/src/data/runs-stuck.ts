import { useQuery } from "@tanstack/react-query";
import type { Page, WireDelivery, WireRun } from "../../../src/http/api.ts";
import { get } from "./api.ts";
import { liveStates } from "./runs.ts";
import { serverNow } from "./time.ts";

/** What needs somebody to look: runs that have gone on for long, and posts that did not arrive. */
export interface Stuck {
  runs: WireRun[];
  deliveries: WireDelivery[];
  /** True: there is more than was read. */
  more: boolean;
}

const most = 200;
/** What was young a moment ago is not young for ever: nobody sends a hint about that. */
const lookAgainMs = 15_000;

/** @param overMs how long something may go on before it is shown here */
export function useStuck(overMs: number) {
  return useQuery({
    queryKey: ["stuck", overMs],
    queryFn: ({ signal }) => readStuck(overMs, signal),
    refetchInterval: lookAgainMs,
  });
}

async function readStuck(overMs: number, signal: AbortSignal): Promise<Stuck> {
  const before = new Date(serverNow() - overMs).toISOString();
  const [runs, late, failed] = await Promise.all([
    get<Page<WireRun>>("/v1/runs", { state: liveStates.join(","), before, limit: most }, signal),
    get<Page<WireDelivery>>("/v1/deliveries", { state: "pending,sending", before, limit: most }, signal),
    get<Page<WireDelivery>>("/v1/deliveries", { state: "unknown,blocked,held,dead", limit: most }, signal),
  ]);
  return {
    runs: runs.items.toReversed(),
    deliveries: [...failed.items, ...late.items],
    more: [runs, late, failed].some((page) => page.next !== null),
  };
}
