import type { PatchSchedule, WireSchedule, WireScheduleState } from "../../../src/http/api.ts";
import { patch, post, type Query } from "./api.ts";
import { idOf, usePages } from "./pages.ts";

/** Schedules, newest first, in pages. */
export function useScheduleList(states: readonly WireScheduleState[]) {
  const query: Query = { state: states.length > 0 ? states.join(",") : undefined };
  return usePages<WireSchedule>("schedules", query, idOf);
}

const pathOf = (id: string): string => `/v1/schedules/${encodeURIComponent(id)}`;

export function changeSchedule(id: string, change: PatchSchedule): Promise<WireSchedule> {
  return patch(pathOf(id), change);
}

/** Fires it now; what it leads to comes over the feed. */
export function fireSchedule(id: string): Promise<WireSchedule> {
  return post(`${pathOf(id)}/fire`);
}
