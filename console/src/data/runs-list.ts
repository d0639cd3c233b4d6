import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Page, WireNode, WireRun, WireRunState } from "../../../src/http/api.ts";
import { get, type Query } from "./api.ts";

/** Which runs a list shows. */
export interface RunFilter {
  states: readonly WireRunState[];
  agent: string | null;
  place: string | null;
  text: string | null;
}

const pageSize = 100;

/** Runs, newest first, in pages. The feed marks them as stale. */
export function useRunList(filter: RunFilter) {
  const query: Query = {
    state: filter.states.length > 0 ? filter.states.join(",") : undefined,
    agent: filter.agent ?? undefined,
    address: filter.place ?? undefined,
    text: filter.text ?? undefined,
  };
  const list = useInfiniteQuery({
    queryKey: ["runs", query],
    queryFn: ({ pageParam, signal }) =>
      get<Page<WireRun>>(
        "/v1/runs",
        { ...query, limit: pageSize, ...(pageParam ? { next: pageParam } : {}) },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });
  const runs = useMemo(() => unique(list.data?.pages ?? []), [list.data]);
  return { ...list, runs };
}

/** Pages that were read at different times may overlap. */
export function unique<T extends { id: string }>(pages: readonly Page<T>[]): T[] {
  return [...new Map(pages.flatMap((page) => page.items).map((item) => [item.id, item])).values()];
}

/** The process that answers, and its agents. Read again after each time that the gateway was away. */
export function useNode() {
  return useQuery({
    queryKey: ["node"],
    queryFn: ({ signal }) => get<WireNode>("/v1/node", {}, signal),
  });
}
