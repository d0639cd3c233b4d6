import type { PostMessage, WireAccepted } from "../../../src/http/api.ts";
import { post } from "./api.ts";
import { randomId } from "./outgoing.ts";

/** The agents that the guide's demonstrations need; they are there without any settings. */
export const guideAgents = ["guide", "worker"] as const;

export const alice = { id: "guide-alice", name: "Alice" };
export const bob = { id: "guide-bob", name: "Bob" };

/** A conversation of its own for each showing, so that nobody's words are between. */
export function freshConversation(name: string): string {
  return `guide-${name}-${randomId().slice(0, 6)}`;
}

/** Asks the guide something, as one of the two people of a demonstration. */
export function askGuide(
  conversation: string,
  kind: "dm" | "channel",
  sender: { id: string; name: string },
  text: string,
): Promise<WireAccepted> {
  const body: PostMessage = { id: `guide-${randomId()}`, conversation, kind, sender, text, agent: "guide" };
  return post<WireAccepted>("/v1/messages", body);
}

/** What a demonstration remembers while this window is open, so that a reload (or a restart of the gateway) is no end. */
export function remember<T>(key: string, value: T | null): void {
  try {
    if (value === null) sessionStorage.removeItem(`waybill.guide.${key}`);
    else sessionStorage.setItem(`waybill.guide.${key}`, JSON.stringify(value));
  } catch {
    // Without storage it lasts as long as the page.
  }
}

export function recall<T>(key: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(`waybill.guide.${key}`) ?? "null") as T | null;
  } catch {
    return null;
  }
}
