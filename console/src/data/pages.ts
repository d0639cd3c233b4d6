import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Page } from "../../../src/http/api.ts";
import { get, type Query } from "./api.ts";

const pageSize = 100;

/**
 * A list of the server, read page by page; its key in the cache is `name` and the query. Pages that were read at
 * different times may overlap: an item with the same key stands there once.
 */
export function usePages<T>(
  name: string,
  query: Query,
  keyOf: (item: T) => string,
  refetchInterval: number | false = false,
) {
  const list = useInfiniteQuery({
    queryKey: [name, query],
    queryFn: ({ pageParam, signal }) =>
      get<Page<T>>(
        `/v1/${name}`,
        { ...query, limit: pageSize, ...(pageParam ? { next: pageParam } : {}) },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    refetchInterval,
  });
  const items = useMemo(() => {
    const all = (list.data?.pages ?? []).flatMap((page) => page.items);
    return [...new Map(all.map((item) => [keyOf(item), item])).values()];
  }, [list.data, keyOf]);
  return { ...list, items };
}

export const idOf = ({ id }: { id: string }): string => id;
