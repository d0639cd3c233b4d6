import type { Address } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";

/** The outgoing port: what a channel does with an op. Channels implement it; nobody else knows a platform. */
export interface Sender {
  /** The channel kind that addresses begin with: `web`, `webhook`, `slack`. */
  readonly channel: string;
  /**
   * True: the post is a row of our own store, so it and its receipt belong to the transaction that finishes the run,
   * and no op is made.
   */
  readonly inTransaction: boolean;
  /** What the platform can do. */
  readonly can: { edit: boolean; delete: boolean; preview: boolean };
  /** Asked when a destination is chosen and again when an op is sent. A text says why not; it is shown to people. */
  allows(address: Address, kind: ConversationKind): true | string;
  /** Splits a long answer at the limit of the platform and account; joined, the pieces say the same. At least one. */
  split(text: string, account: string): string[];
  /** Sends one op. Throwing counts as `unclear`: nobody knows what the platform has done. */
  send(op: OutgoingOp, signal: AbortSignal): Promise<SendOutcome>;
  /**
   * Settles an op whose answer never came: looks the key up, or reads the conversation back for our marker. A channel
   * whose platform deduplicates by key answers `send-again`.
   */
  reconcile(op: OutgoingOp, signal: AbortSignal): Promise<ReconcileOutcome>;
  /** Left out: the platform shows nothing of a run before its answer, or all accounts differ too much. */
  readonly live?: LiveSender;
}

/**
 * People see life. All of it is best effort: nothing of it is stored or tried again, and an error is only logged. What
 * counts is the op that finishes the post.
 */
export interface LiveSender {
  /** Typing or a status at a place until `signal` aborts, which is when the run has ended. */
  working?(address: Address, signal: AbortSignal): void;
  /**
   * Shows the answer as far as it is written, in the preview's post. Never called again once the edit that finishes the
   * post may be sent; that edit waits until a call has settled.
   */
  show?(post: LivePost, signal: AbortSignal): Promise<void>;
  /** Milliseconds between two calls of `show`, at least. */
  readonly everyMs: number;
}

export interface LivePost {
  address: Address;
  run: string;
  /** The platform's id of the preview. */
  target: string;
  /** The whole text so far; not split. */
  text: string;
}

export interface OutgoingOp {
  id: string;
  delivery: string;
  /** What this op is to the platform: the same for every attempt. */
  key: string;
  address: Address;
  kind: "create" | "edit" | "delete";
  /** Which piece of a long answer, from 0. */
  part: number;
  text: string;
  /** The platform's id of the post that an edit or delete is about. */
  target: string | null;
  run: string | null;
  turn: string | null;
  attempt: number;
}

/** What the platform gave as proof. */
export interface Receipt {
  platformId: string;
  permalink?: string | null;
}

export type SendOutcome =
  | { kind: "sent"; receipt: Receipt }
  /** Not done; worth another try, not before `afterMs`. */
  | { kind: "retry"; reason: string; afterMs?: number }
  /** Perhaps done: reconcile before anything is sent again. */
  | { kind: "unclear"; reason: string }
  /** The place is gone or closed to us: `blocked`, and nothing goes anywhere else instead. */
  | { kind: "blocked"; reason: string }
  /** The platform will never take it: a dead letter. */
  | { kind: "refused"; reason: string };

export type ReconcileOutcome =
  | { kind: "found"; receipt: Receipt }
  | { kind: "send-again" }
  | { kind: "unknown"; reason: string }
  | { kind: "retry"; reason: string; afterMs?: number };

/** `withdrawn`: a preview that was taken away, because its run ended without an answer. */
export type DeliveryState =
  | "pending"
  | "sending"
  | "delivered"
  | "unknown"
  | "blocked"
  | "held"
  | "dead"
  | "withdrawn";

/** Which rule chose a destination. `configured`: an operator's own setting named it. */
export type DeliveryRule = "explicit" | "turn" | "last-active" | "latest-seen" | "configured";

/** A destination that was looked at and not taken, and why. */
export interface Rejected {
  rule: DeliveryRule;
  address: string;
  reason: string;
}
