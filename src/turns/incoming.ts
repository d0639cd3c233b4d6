import type { MessagePart } from "../ledger/run.ts";
import type { Place } from "../deliveries/post-message.ts";
import type { TextKey } from "../texts/render.ts";

/** Something of a message that does not reach the agent; `reason` is a text of the catalogue, with its values. */
export interface LeftOut {
  name: string;
  reason: Extract<TextKey, `parts.reason.${string}`>;
  values?: Readonly<Record<string, string | number>>;
}

/** The incoming port: what a channel hands over once it has verified and parsed an event of its platform. */
export interface IncomingMessage {
  place: Place;
  /**
   * Where the answer is due, if that is not `place`: a thread that the answer opens below the message. Lane and memory
   * are those of this place.
   */
  answerIn?: Place;
  /**
   * The platform's id of the message. The key of an event is account, conversation and this, so a platform's retry
   * makes nothing twice, and ids that repeat across conversations do not collide.
   */
  id: string;
  sender: { id: string; name: string | null };
  /** The account that the sender is linked to, or that the caller authenticated as. */
  principal: string | null;
  /** Without the bot's own mention. */
  text: string;
  parts: MessagePart[];
  /** An agent that the caller named; else routes choose. */
  agent?: string;
  /** What the channel could not take, and why; the person is told in the commit that takes the rest. */
  leftOut?: LeftOut[];
  /** The platform says that it sent this before. A first sighting is handled all the same. */
  retried?: boolean;
  /** A wish to answer anew what was answered before: a new turn, no new message of the person. */
  regenerate?: boolean;
  /** With `regenerate`: our id of the message that is answered anew. */
  standing?: string;
}

/** What a message led to. Given again for the same message: the same answer. */
export interface Accepted {
  turn: string;
  run: string | null;
  stream: string | null;
  address: string;
  message: string;
  /** `queued`: a run will answer. `replied`: a reserved word, or a cap, was answered at once. */
  outcome: "queued" | "replied";
  /** True if this message had been seen before. */
  repeated: boolean;
}

/** What channels call. Resolves when turn and run are committed: only then does a channel acknowledge. */
export interface Inbox {
  /**
   * @throws WaybillError `sender_not_allowed`, `idempotency_conflict`, `unknown_agent`, `shutting_down`,
   *   `store_unavailable`, `store_full`
   */
  accept(incoming: IncomingMessage): Promise<Accepted>;
  /**
   * The person changed a message that was accepted. A run that has not begun answers the new text; one that has begun
   * goes on, and only the record of what was said changes.
   * @returns `unknown` if no such message was accepted (also when its sender may not speak)
   */
  amend(change: MessageChange & { text: string }): Promise<ChangeOutcome>;
  /** The person took a message back: its run is cancelled if it has not ended, and its text is removed from the record. */
  withdraw(change: MessageChange): Promise<ChangeOutcome>;
}

/** Which message a person changed or took back: the place, the platform's id, and who it is that did. */
export interface MessageChange {
  place: Place;
  id: string;
  sender: { id: string; name: string | null };
}

/** `run`: what became of the run was changed too; `record`: only the record of what was said. */
export type ChangeOutcome = "run" | "record" | "unknown";
