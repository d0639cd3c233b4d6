import type { WebClient } from "@slack/web-api";
import type { Clock } from "../../kernel/clock.ts";
import type { SendOutcome } from "../channel.ts";
import { failureOf, outcomeOf } from "./slack-api.ts";

/** How long a thread that was seen counts as there, unless its deletion is reported. */
const seenMs = 60_000;
const most = 10_000;

/**
 * Which threads are there. Slack may take a post for a thread that is gone and show it somewhere else, so before a post
 * in a thread it is asked; not again for a while, nor when an event came from the thread just now.
 */
export class ThreadWatch {
  readonly #api: WebClient;
  readonly #clock: Clock;
  readonly #seen = new Map<string, number>();

  constructor(api: WebClient, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  /** Something was said in the thread, or at its head. */
  saw(conversation: string, thread: string): void {
    const key = keyOf(conversation, thread);
    this.#seen.delete(key);
    this.#seen.set(key, this.#clock.now());
    if (this.#seen.size > most) this.#seen.delete(this.#seen.keys().next().value ?? "");
  }

  /** A message was deleted; it may have been the head of a thread. */
  forget(conversation: string, ts: string): void {
    this.#seen.delete(keyOf(conversation, ts));
  }

  /** Null if a post may go there, else what becomes of it. */
  async check(conversation: string, thread: string): Promise<Exclude<SendOutcome, { kind: "sent" }> | null> {
    const at = this.#seen.get(keyOf(conversation, thread));
    if (at !== undefined && this.#clock.now() - at < seenMs) return null;
    try {
      const { messages } = await this.#api.conversations.replies({
        channel: conversation,
        ts: thread,
        limit: 1,
      });
      if (messages?.[0]?.ts !== thread) return gone;
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (failure.kind !== "refusal") return { ...outcomeOf(thrown), kind: "retry" };
      if (failure.error === "thread_not_found" || failure.error === "message_not_found") return gone;
      // Without the right to read, what Slack answers to the post has to do.
      return failure.error === "missing_scope" ? null : outcomeOf(thrown);
    }
    this.saw(conversation, thread);
    return null;
  }
}

const gone = {
  kind: "blocked",
  reason: "the thread does not exist any more; its first message was deleted",
} as const;

function keyOf(conversation: string, thread: string): string {
  return JSON.stringify([conversation, thread]);
}
