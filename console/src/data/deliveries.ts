import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Page, WireDelivery, WireDeliveryState } from "../../../src/http/api.ts";
import { get, post, type Query } from "./api.ts";
import { unique } from "./runs-list.ts";

/** Which deliveries a list shows. */
export interface DeliveryFilter {
  states: readonly WireDeliveryState[];
  place: string | null;
  run: string | null;
}

const pageSize = 100;

/** States in which somebody has to look; each can be sent again. */
export const retryableStates: readonly WireDeliveryState[] = ["dead", "unknown", "blocked", "held"];

export function isRetryable(state: WireDeliveryState): boolean {
  return retryableStates.includes(state);
}

/** Deliveries, newest first, in pages. The feed marks them as stale. */
export function useDeliveryList(filter: DeliveryFilter) {
  const query: Query = {
    state: filter.states.length > 0 ? filter.states.join(",") : undefined,
    address: filter.place ?? undefined,
    run: filter.run ?? undefined,
  };
  const list = useInfiniteQuery({
    queryKey: ["deliveries", query],
    queryFn: ({ pageParam, signal }) =>
      get<Page<WireDelivery>>(
        "/v1/deliveries",
        { ...query, limit: pageSize, ...(pageParam ? { next: pageParam } : {}) },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });
  const deliveries = useMemo(() => unique(list.data?.pages ?? []), [list.data]);
  return { ...list, deliveries };
}

export function useDelivery(id: string) {
  return useQuery({
    queryKey: ["delivery", id],
    queryFn: ({ signal }) => get<WireDelivery>(`/v1/deliveries/${encodeURIComponent(id)}`, {}, signal),
  });
}

export function retryDelivery(id: string): Promise<{ state: WireDeliveryState }> {
  return post(`/v1/deliveries/${encodeURIComponent(id)}/retry`);
}
