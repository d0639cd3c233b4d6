import { useQuery } from "@tanstack/react-query";
import type { WireNode, WireRun, WireRunState } from "../../../src/http/api.ts";
import { get, type Query } from "./api.ts";
import { idOf, usePages } from "./pages.ts";

/** Which runs a list shows. */
export interface RunFilter {
  states: readonly WireRunState[];
  agent: string | null;
  place: string | null;
  text: string | null;
}

/** Runs, newest first, in pages. The feed marks them as stale. */
export function useRunList({ states, agent, place, text }: RunFilter) {
  const query: Query = {
    state: states.length > 0 ? states.join(",") : undefined,
    agent: agent ?? undefined,
    address: place ?? undefined,
    text: text ?? undefined,
  };
  return usePages<WireRun>("runs", query, idOf);
}

/** The process that answers, and its agents. Read again after each time that the gateway was away. */
export function useNode() {
  return useQuery({
    queryKey: ["node"],
    queryFn: ({ signal }) => get<WireNode>("/v1/node", {}, signal),
  });
}
