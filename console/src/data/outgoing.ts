import { useSyncExternalStore } from "react";
import type { PostMessage, WireAccepted, WireMessagePart } from "../../../src/http/api.ts";
import { ApiError, post } from "./api.ts";
import { placeParts } from "./place.ts";
import { speaker, type Speaker } from "./speakers.ts";
import { refreshPlace } from "./timeline.ts";

/** A message on its way from this window. Its id is the idempotency key, so sending it again makes nothing twice. */
export interface Outgoing {
  id: string;
  address: string;
  text: string;
  parts: readonly WireMessagePart[];
  speaker: Speaker | null;
  kind: "dm" | "channel" | undefined;
  at: number;
  error: ApiError | null;
}

let all: readonly Outgoing[] = [];
const hearers = new Set<() => void>();

function put(next: readonly Outgoing[]): void {
  all = next;
  for (const hear of hearers) hear();
}

export function useOutgoing(): readonly Outgoing[] {
  return useSyncExternalStore(
    (hear) => {
      hearers.add(hear);
      return () => hearers.delete(hear);
    },
    () => all,
  );
}

/** A random id; `crypto.randomUUID` is missing on a page that is neither on localhost nor on HTTPS. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(36).padStart(2, "0")).join("");
}

/** Says something at a place of the web channel. Resolves with what it led to, or null if it failed and can be retried. */
export function send(
  address: string,
  text: string,
  parts: readonly WireMessagePart[],
  kind?: "dm" | "channel",
): Promise<WireAccepted | null> {
  const outgoing: Outgoing = {
    id: `web-${randomId()}`,
    address,
    text,
    parts,
    speaker: speaker(),
    kind,
    at: Date.now(),
    error: null,
  };
  put([...all, outgoing]);
  return deliver(outgoing);
}

export function sendAgain(id: string): void {
  const found = all.find((one) => one.id === id);
  if (!found) return;
  const again = { ...found, error: null };
  put(all.map((one) => (one.id === id ? again : one)));
  void deliver(again);
}

export function discard(id: string): void {
  put(all.filter((one) => one.id !== id));
}

async function deliver(outgoing: Outgoing): Promise<WireAccepted | null> {
  const { id, address, text, parts, kind } = outgoing;
  const place = placeParts(address);
  const body: PostMessage = {
    id,
    conversation: place?.conversation ?? address,
    ...(place?.thread ? { thread: place.thread } : {}),
    ...(outgoing.speaker ? { sender: outgoing.speaker } : {}),
    ...(kind ? { kind } : {}),
    ...(text === "" ? {} : { text }),
    ...(parts.length > 0 ? { parts: [...parts] } : {}),
  };
  try {
    const accepted = await post<WireAccepted>("/v1/messages", body);
    await refreshPlace(accepted.address).catch(() => {});
    discard(id);
    return accepted;
  } catch (error) {
    const failure = error instanceof ApiError ? error : new ApiError(0, "unreachable", {});
    put(all.map((one) => (one.id === id ? { ...one, error: failure } : one)));
    return null;
  }
}
