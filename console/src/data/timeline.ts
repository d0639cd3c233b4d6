import { notifyManager, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Page, WireMessage, WireRun } from "../../../src/http/api.ts";
import { get, request } from "./api.ts";
import { queryClient } from "./client.ts";
import { knownConversation } from "./conversations.ts";
import { liveRunsKey, readLiveRuns } from "./runs.ts";

/** A gapless piece of what was said at a place, up to the newest; older messages are put in front on demand. */
export interface Timeline {
  messages: readonly WireMessage[];
  /** True: there is nothing before the first message. */
  complete: boolean;
}

const pageSize = 100;
/** So far behind, what lies between is not worth reading: the newest is shown and the rest comes on demand. */
const catchUpMost = 1_000;

const keyOf = (address: string) => ["timeline", address];

async function fetchAfter(
  address: string,
  after: number,
  limit: number,
  signal?: AbortSignal,
): Promise<WireMessage[]> {
  const query = { address, limit, ...(after > 0 ? { next: after } : {}) };
  return (await get<Page<WireMessage>>("/v1/messages", query, signal)).items;
}

/** The post_seq of the newest message: the place's feed begins with it. */
async function readTail(address: string, signal?: AbortSignal): Promise<number> {
  const stop = new AbortController();
  const both = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const response = await request("/v1/conversations/events", { query: { address }, signal: both });
  const reader = response.body!.pipeThrough(new TextDecoderStream() as never).getReader();
  let text = "";
  while (!/^id: \d+\n/.test(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += String(value);
  }
  stop.abort();
  return Number(/^id: (\d+)/.exec(text)?.[1] ?? 0);
}

async function loadLatest(address: string, signal?: AbortSignal): Promise<Timeline> {
  const tail = knownConversation(address)?.lastPostSeq ?? (await readTail(address, signal));
  const after = Math.max(0, tail - pageSize);
  const start = { messages: [], complete: after === 0 };
  return readOn(address, start, after, signal);
}

/** The timeline with everything that came after it. */
async function readOn(
  address: string,
  known: Timeline,
  from: number,
  signal?: AbortSignal,
): Promise<Timeline> {
  let messages = known.messages;
  for (let after = from; ; after = messages.at(-1)!.postSeq) {
    const more = await fetchAfter(address, after, pageSize, signal);
    if (more.length > 0) messages = [...messages, ...more];
    if (more.length < pageSize) return { ...known, messages };
    if (messages.length - known.messages.length > catchUpMost) return loadLatest(address, signal);
  }
}

const timelineOptions = (address: string) =>
  queryOptions({ queryKey: keyOf(address), queryFn: ({ signal }) => loadLatest(address, signal) });

/** Puts older messages in front. Resolves when they are there. */
export async function loadOlder(address: string): Promise<void> {
  const known = queryClient.getQueryData<Timeline>(keyOf(address));
  const first = known?.messages[0]?.postSeq;
  if (!known || known.complete || first === undefined) return;
  const after = Math.max(0, first - 1 - pageSize);
  const older = (await fetchAfter(address, after, pageSize)).filter(({ postSeq }) => postSeq < first);
  queryClient.setQueryData<Timeline>(
    keyOf(address),
    (now) => now && { messages: [...older, ...now.messages], complete: after === 0 || older.length === 0 },
  );
}

/** Places that this window shows now. */
const shown = new Map<string, number>();

export function shownPlaces(): string[] {
  return [...shown.keys()];
}

const refreshing = new Map<string, "once" | "again">();

/**
 * Brings a place up to date: messages and live runs, in one step, so that an answer takes the place of its stream
 * without a moment in between. Runs are asked first: one that has ended left its message before.
 */
export async function refreshPlace(address: string): Promise<void> {
  if (refreshing.has(address)) {
    refreshing.set(address, "again");
    return;
  }
  try {
    do {
      refreshing.set(address, "once");
      const known = await queryClient.ensureQueryData(timelineOptions(address));
      const runs = await readLiveRuns(address);
      const last = known.messages.at(-1)?.postSeq ?? 0;
      const fresh = await readOn(address, known, last);
      notifyManager.batch(() => {
        queryClient.setQueryData<Timeline>(keyOf(address), (now) => merge(now, known, fresh));
        queryClient.setQueryData<WireRun[]>(liveRunsKey(address), runs);
      });
    } while (refreshing.get(address) === "again");
  } finally {
    refreshing.delete(address);
  }
}

/** What was read on, over what came in front meanwhile. */
function merge(now: Timeline | undefined, known: Timeline, fresh: Timeline): Timeline {
  if (now === undefined || now === known) return fresh;
  const last = now.messages.at(-1)?.postSeq ?? 0;
  const news = fresh.messages.filter(({ postSeq }) => postSeq > last);
  return news.length === 0 ? now : { ...now, messages: [...now.messages, ...news] };
}

/** What was said at a place, kept fresh while it is shown. */
export function useTimeline(address: string | null) {
  useEffect(() => {
    if (address === null) return;
    shown.set(address, (shown.get(address) ?? 0) + 1);
    // It may have been read long ago, and nobody listened since.
    if (queryClient.getQueryData(keyOf(address)) !== undefined) refreshPlace(address).catch(() => {});
    return () => {
      const left = (shown.get(address) ?? 1) - 1;
      if (left > 0) shown.set(address, left);
      else shown.delete(address);
    };
  }, [address]);
  return useQuery({ ...timelineOptions(address ?? ""), enabled: address !== null });
}
