import { parseAddress } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ReachCrashPoint } from "../kernel/crash-points.ts";
import type { ClaimedOp } from "./claim-ops.ts";
import type { OutgoingOp, ReconcileOutcome, Sender, SendOutcome } from "./sender.ts";
import type { OpSettlement } from "./settle-op.ts";

export interface RetrySettings {
  /** Attempts before an op becomes a dead letter. */
  attempts: number;
  /** The first pause, in milliseconds; each next one is twice as long. */
  firstMs: number;
  mostMs: number;
  /** How long one attempt may take before its outcome counts as unclear. */
  timeoutMs: number;
}

export interface AttemptContext {
  sender: Sender;
  retry: RetrySettings;
  clock: Clock;
  /** From 0 to 1. */
  random: () => number;
  reach: ReachCrashPoint;
  /** Aborts when the process stops and waits no longer. */
  signal: AbortSignal;
}

/** Looks that an op whose last attempt was unclear still gets after its attempts to send are used up. */
const MORE_LOOKS = 4;

/**
 * Attempts one claimed op: asks the allowlist again, settles what an earlier attempt left open, and only then sends.
 * Never throws: whatever happens becomes a settlement.
 */
export async function attemptOp(claimed: ClaimedOp, context: AttemptContext): Promise<OpSettlement> {
  try {
    return await attempt(claimed, context);
  } catch (thrown) {
    return later(claimed, context, { reason: reasonOf(thrown), ambiguous: claimed.ambiguous });
  }
}

async function attempt(claimed: ClaimedOp, context: AttemptContext): Promise<OpSettlement> {
  const { sender, reach, retry } = context;
  const { ambiguous } = claimed;
  if (context.signal.aborted) return later(claimed, context, { reason: "the gateway stopped", ambiguous });
  const address = parseAddress(claimed.address);
  const allowed = sender.allows(address, claimed.conversationKind as ConversationKind);
  if (allowed !== true) return { kind: "blocked", reason: allowed, ambiguous };
  // A preview that its run has taken back is not shown for the moment until it is deleted.
  if (claimed.withdrawn && !ambiguous) return nothingDone;
  const found = await findPost(claimed, address, context);
  if ("kind" in found) return found;
  const op = outgoing(claimed, address, found.target);
  if (op.kind === "delete" && op.target === null) return nothingDone;
  if (ambiguous) {
    const looked = await reconcile(op, context);
    if (looked.kind !== "send-again") return ofLook(looked, claimed, context);
    if (claimed.attempt > retry.attempts) {
      return { kind: "dead", reason: `gave up after ${retry.attempts} attempts; it was not posted` };
    }
  }
  reach("send:before-request");
  const sent = await within<SendOutcome>(
    context,
    (signal) => sender.send(op, signal),
    (reason) => ({ kind: "unclear", reason }),
  );
  reach("send:after-request");
  return ofSend(sent, claimed, context);
}

const nothingDone: OpSettlement = { kind: "done", platformId: null, permalink: null };

/**
 * The post that an edit or delete is about. Where the preview's own op ended as `unknown`, it is looked for once more.
 * An edit without a post is sent as a post of its own, so that the answer is not lost with its preview; that there may
 * be an unfinished preview above it is the smaller evil. A delete has nothing to put in its place and says so.
 */
async function findPost(
  claimed: ClaimedOp,
  address: OutgoingOp["address"],
  context: AttemptContext,
): Promise<{ target: string | null } | OpSettlement> {
  const { creator, target, kind } = claimed;
  if (target !== null || creator?.state !== "unknown") return { target };
  const preview: OutgoingOp = {
    ...outgoing(claimed, address, null),
    id: creator.id,
    key: creator.id,
    kind: "create",
    text: creator.text,
  };
  const looked = await reconcile(preview, context);
  switch (looked.kind) {
    case "found":
      return { target: looked.receipt.platformId };
    case "send-again":
      return { target: null };
    case "unknown":
      return kind === "delete" ? { kind: "unknown", reason: looked.reason } : { target: null };
    case "retry":
      return later(claimed, context, { ...looked, ambiguous: claimed.ambiguous });
  }
}

function outgoing(claimed: ClaimedOp, address: OutgoingOp["address"], target: string | null): OutgoingOp {
  const { id, delivery, part, text, run, turn, attempt: count } = claimed;
  const kind = claimed.kind === "edit" && target === null ? "create" : claimed.kind;
  return { id, delivery, key: id, address, kind, part, text, target, run, turn, attempt: count };
}

function reconcile(op: OutgoingOp, context: AttemptContext): Promise<ReconcileOutcome> {
  return within<ReconcileOutcome>(
    context,
    (signal) => context.sender.reconcile(op, signal),
    (reason) => ({ kind: "retry", reason }),
  );
}

function ofLook(
  outcome: Exclude<ReconcileOutcome, { kind: "send-again" }>,
  op: ClaimedOp,
  context: AttemptContext,
): OpSettlement {
  switch (outcome.kind) {
    case "found":
      return done(outcome.receipt);
    case "unknown":
      return { kind: "unknown", reason: outcome.reason };
    case "retry":
      return later(op, context, { ...outcome, ambiguous: true });
  }
}

function ofSend(outcome: SendOutcome, op: ClaimedOp, context: AttemptContext): OpSettlement {
  switch (outcome.kind) {
    case "sent":
      return done(outcome.receipt);
    case "retry":
      return later(op, context, { ...outcome, ambiguous: false });
    case "unclear":
      return later(op, context, { ...outcome, ambiguous: true });
    case "blocked":
      return { kind: "blocked", reason: outcome.reason };
    case "refused":
      return { kind: "dead", reason: outcome.reason };
  }
}

function later(
  op: ClaimedOp,
  context: AttemptContext,
  why: { reason: string; afterMs?: number; ambiguous: boolean },
): OpSettlement {
  const { attempts, firstMs, mostMs } = context.retry;
  const { reason, ambiguous } = why;
  // Cut by our own stop: the next process goes on at once.
  if (context.signal.aborted) return { kind: "retry", inMs: 0, reason, ambiguous };
  if (op.attempt >= attempts + (ambiguous ? MORE_LOOKS : 0)) {
    return ambiguous
      ? { kind: "unknown", reason }
      : { kind: "dead", reason: `gave up after ${op.attempt} attempts: ${reason}` };
  }
  const pause = Math.min(mostMs, firstMs * 2 ** (op.attempt - 1));
  // Half of the pause is by chance, so that many ops that failed together do not come back together.
  const jittered = pause / 2 + (pause / 2) * context.random();
  return { kind: "retry", inMs: Math.round(Math.max(jittered, why.afterMs ?? 0)), reason, ambiguous };
}

function done(receipt: { platformId: string; permalink?: string | null }): OpSettlement {
  return { kind: "done", platformId: receipt.platformId, permalink: receipt.permalink ?? null };
}

/** Gives work its time. What it does after that is not waited for, also where it ignores its signal. */
async function within<T>(
  context: AttemptContext,
  work: (signal: AbortSignal) => Promise<T>,
  onThrow: (reason: string) => T,
): Promise<T> {
  const { clock, retry, signal } = context;
  const cut = new AbortController();
  const stopped = (): void => cut.abort(new Error("the gateway stopped while this was being sent"));
  const cancel = clock.after(retry.timeoutMs, () =>
    cut.abort(new Error(`there was no answer within ${retry.timeoutMs} ms`)),
  );
  signal.addEventListener("abort", stopped, { once: true });
  if (signal.aborted) stopped();
  const isCut = new Promise<never>((_resolve, reject) => {
    const fail = (): void => reject(cut.signal.reason as Error);
    cut.signal.addEventListener("abort", fail, { once: true });
    if (cut.signal.aborted) fail();
  });
  try {
    return await Promise.race([work(cut.signal), isCut]);
  } catch (thrown) {
    return onThrow(reasonOf(thrown));
  } finally {
    cancel();
    signal.removeEventListener("abort", stopped);
  }
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
