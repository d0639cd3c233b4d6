import { useSyncExternalStore } from "react";
import type { WireConversation } from "../../../src/http/api.ts";

/** How far each place was read in this browser, by post_seq; shared by its windows. */
type Marks = Readonly<Record<string, number>>;

const key = "waybill.read";
const most = 2_000;
let marks: Marks | null = load();
const hearers = new Set<() => void>();

function load(): Marks | null {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? "null") as unknown;
    return typeof stored === "object" ? (stored as Marks | null) : null;
  } catch {
    return null;
  }
}

function put(next: Marks): void {
  marks = next;
  try {
    localStorage.setItem(key, JSON.stringify(next));
  } catch {
    // Without storage marks live as long as the page.
  }
  for (const hear of hearers) hear();
}

addEventListener("storage", (event) => {
  if (event.key !== key) return;
  marks = load();
  for (const hear of hearers) hear();
});

/** On the first visit nothing is unread: nobody has missed what was said before they came. */
export function beginMarks(conversations: readonly WireConversation[]): void {
  if (marks === null) put(Object.fromEntries(conversations.map((one) => [one.address, one.lastPostSeq])));
}

export function markRead(address: string, postSeq: number): void {
  if ((marks?.[address] ?? 0) >= postSeq) return;
  const entries = Object.entries({ ...marks, [address]: postSeq });
  put(Object.fromEntries(entries.slice(-most)));
}

export function useMarks(): Marks {
  return useSyncExternalStore(
    (hear) => {
      hearers.add(hear);
      return () => hearers.delete(hear);
    },
    () => marks ?? none,
  );
}

const none: Marks = {};
