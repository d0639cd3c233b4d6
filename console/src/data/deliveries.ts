import { useQuery } from "@tanstack/react-query";
import type { WireDelivery, WireDeliveryState, WireRefusal } from "../../../src/http/api.ts";
import { get, post, type Query } from "./api.ts";
import { idOf, usePages } from "./pages.ts";

/** Which deliveries a list shows. */
export interface DeliveryFilter {
  states: readonly WireDeliveryState[];
  place: string | null;
  run: string | null;
}

/** States in which somebody has to look; each can be sent again. */
export const retryableStates: readonly WireDeliveryState[] = ["dead", "unknown", "blocked", "held"];

export function isRetryable(state: WireDeliveryState): boolean {
  return retryableStates.includes(state);
}

/** Deliveries, newest first, in pages. The feed marks them as stale. */
export function useDeliveryList({ states, place, run }: DeliveryFilter) {
  const query: Query = {
    state: states.length > 0 ? states.join(",") : undefined,
    address: place ?? undefined,
    run: run ?? undefined,
  };
  return usePages<WireDelivery>("deliveries", query, idOf);
}

/** Sends of runs that the rules of addresses refused, newest first, in pages. The feed marks them as stale. */
export function useRefusals() {
  return usePages<WireRefusal>("refusals", {}, keyOfRefusal);
}

const keyOfRefusal = ({ run, seq }: WireRefusal): string => `${run} ${seq}`;

export function useDelivery(id: string) {
  return useQuery({
    queryKey: ["delivery", id],
    queryFn: ({ signal }) => get<WireDelivery>(`/v1/deliveries/${encodeURIComponent(id)}`, {}, signal),
  });
}

/** @param to the place of one that is held for want of it */
export function retryDelivery(id: string, to?: string): Promise<{ state: WireDeliveryState }> {
  return post(`/v1/deliveries/${encodeURIComponent(id)}/retry`, to === undefined ? undefined : { to });
}
