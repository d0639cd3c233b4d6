import { useQuery } from "@tanstack/react-query";
import type { Page, WireAccepted, WireRun, WireRunState } from "../../../src/http/api.ts";
import { get, post } from "./api.ts";
import { queryClient } from "./client.ts";

export const liveStates: readonly WireRunState[] = ["staged", "queued", "running", "waiting"];

export const liveRunsKey = (address: string) => ["live-runs", address];
const runKey = (id: string) => ["run", id];

/** The runs whose answers are due at a place, the oldest first. */
export async function readLiveRuns(address: string, signal?: AbortSignal): Promise<WireRun[]> {
  const query = { address, state: liveStates.join(","), limit: 200 };
  const page = await get<Page<WireRun>>("/v1/runs", query, signal);
  for (const run of page.items) queryClient.setQueryData(runKey(run.id), run);
  return page.items.filter((run) => run.replyTo === address).toReversed();
}

/** What is read first knows the newest runs that ended too, for the names of their agents. */
async function readFirst(address: string, signal: AbortSignal): Promise<WireRun[]> {
  const [newest, live] = await Promise.all([
    get<Page<WireRun>>("/v1/runs", { address, limit: 100 }, signal),
    readLiveRuns(address, signal),
  ]);
  for (const run of newest.items) {
    if (!isLive(run.state)) queryClient.setQueryData(runKey(run.id), run);
  }
  return live;
}

export function useLiveRuns(address: string | null) {
  return useQuery({
    queryKey: liveRunsKey(address ?? ""),
    queryFn: ({ signal }) => readFirst(address ?? "", signal),
    enabled: address !== null,
  });
}

/** One run. The feed marks it as stale when something happens to it. */
export function useRun(id: string | null, enabled = true) {
  return useQuery({
    queryKey: runKey(id ?? ""),
    queryFn: ({ signal }) => get<WireRun>(`/v1/runs/${id}`, {}, signal),
    enabled: enabled && id !== null,
  });
}

export function cancelRun(id: string): Promise<unknown> {
  return post(`/v1/runs/${id}/cancel`);
}

export function retryRun(id: string): Promise<WireAccepted> {
  return post(`/v1/runs/${id}/retry`);
}

export function isLive(state: WireRunState): boolean {
  return liveStates.includes(state);
}
