import { useQuery } from "@tanstack/react-query";
import type { Page, WireConversation } from "../../../src/http/api.ts";
import { get } from "./api.ts";
import { queryClient } from "./client.ts";

const key = ["conversations"];
const whole = 500;
const latest = 50;

/** Conversations and threads, the latest spoken in first; `more`: there are older ones that are not listed. */
export interface ConversationList {
  items: WireConversation[];
  more: boolean;
}

async function fetchList(limit: number, signal?: AbortSignal): Promise<ConversationList> {
  const page = await get<Page<WireConversation>>("/v1/conversations", { limit }, signal);
  return { items: page.items, more: page.next !== null };
}

/** @param select what of the list matters; a component is rendered anew only when that changes */
export function useConversations<T = ConversationList>(select?: (list: ConversationList) => T) {
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => fetchList(whole, signal),
    ...(select ? { select } : {}),
  });
}

export function knownConversation(address: string): WireConversation | undefined {
  return queryClient
    .getQueryData<ConversationList>(key)
    ?.items.find((conversation) => conversation.address === address);
}

/** Reads all of the list again. */
export async function reloadConversations(): Promise<void> {
  await queryClient.refetchQueries({ queryKey: key });
}

/** Reads what was spoken in last and merges it in: what changed is at the top. */
export async function refreshConversations(): Promise<void> {
  if (queryClient.getQueryData(key) === undefined) return reloadConversations();
  const fresh = await fetchList(latest);
  queryClient.setQueryData<ConversationList>(key, (known) =>
    known === undefined ? undefined : { ...known, items: mergeLatest(known.items, fresh.items) },
  );
}

/** `known` with `fresh` over it, the latest spoken in first. */
export function mergeLatest(
  known: readonly WireConversation[],
  fresh: readonly WireConversation[],
): WireConversation[] {
  const byAddress = new Map(known.map((one) => [one.address, one]));
  for (const one of fresh) byAddress.set(one.address, one);
  return [...byAddress.values()].toSorted((a, b) =>
    a.lastAt === b.lastAt ? (a.address < b.address ? 1 : -1) : a.lastAt < b.lastAt ? 1 : -1,
  );
}
