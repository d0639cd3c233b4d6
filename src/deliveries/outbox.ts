import { parseAddress } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import type { Database } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ReachCrashPoint } from "../kernel/crash-points.ts";
import type { Logger } from "../kernel/logger.ts";
import { claimOps, readNextDue, type ClaimedOp } from "./claim-ops.ts";
import type { DeliveryState, OutgoingOp, ReconcileOutcome, Sender, SendOutcome } from "./sender.ts";
import { settleOp, type OpSettlement } from "./settle-op.ts";

export interface OutboxOptions {
  tenant: string;
  owner: string;
  db: Database;
  senders: ReadonlyMap<string, Sender>;
  clock: Clock;
  log: Logger;
  reach: ReachCrashPoint;
  random: () => number;
  retry: RetrySettings;
  /** Told after a delivery changed. */
  onSettled?: (delivery: string, address: string, state: DeliveryState) => void;
}

export interface RetrySettings {
  /** Attempts before an op becomes a dead letter. */
  attempts: number;
  /** The first pause, in milliseconds; each next one is twice as long. */
  firstMs: number;
  mostMs: number;
  /** How long one attempt may take before its outcome counts as unclear. */
  timeoutMs: number;
}

export const defaultRetry: RetrySettings = { attempts: 12, firstMs: 500, mostMs: 300_000, timeoutMs: 30_000 };

/** Ops under way at once; of one address there is never more than one. */
const AT_ONCE = 64;

/**
 * Sends what is due. Delivery is at least once plus deduplication: an attempt whose outcome is unclear is reconciled
 * before anything is sent again, and what cannot be settled is `unknown`, never silently repeated.
 */
export class Outbox {
  readonly #o: OutboxOptions;
  readonly #working = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #claiming = false;
  #again = false;
  #cancelTimer: (() => void) | null = null;

  constructor(options: OutboxOptions) {
    this.#o = options;
  }

  /** Something may be due. Cheap to call often. */
  wake(): void {
    this.#again = true;
    if (this.#claiming || this.#stop.signal.aborted) return;
    this.#claiming = true;
    const claiming = this.#claimAll().finally(() => {
      this.#claiming = false;
      this.#working.delete(claiming);
      if (this.#again && this.#working.size < AT_ONCE) this.wake();
    });
    this.#working.add(claiming);
  }

  async #claimAll(): Promise<void> {
    while (this.#again && this.#working.size <= AT_ONCE && !this.#stop.signal.aborted) {
      this.#again = false;
      try {
        const limit = AT_ONCE - this.#working.size + 1;
        if (limit <= 0) return;
        const { tenant, owner, senders } = this.#o;
        const ops = await this.#o.db.do(claimOps, { tenant, owner, channels: [...senders.keys()], limit });
        for (const op of ops) this.#begin(op);
        if (ops.length === 0) await this.#armTimer();
      } catch (error) {
        this.#o.log.error({ error: String(error) }, "ops could not be claimed");
        this.#arm(this.#o.clock.now() + 1_000);
      }
    }
  }

  #begin(op: ClaimedOp): void {
    const work = this.#attempt(op)
      .catch((error: unknown) =>
        this.#o.log.error({ op: op.id, error: String(error) }, "an op could not be settled"),
      )
      .finally(() => {
        this.#working.delete(work);
        this.wake();
      });
    this.#working.add(work);
  }

  async #armTimer(): Promise<void> {
    const [next] = await this.#o.db.read(readNextDue, { tenant: this.#o.tenant });
    if (next) this.#arm(next.next_at);
  }

  #arm(at: number): void {
    this.#cancelTimer?.();
    // An op that is due but waits for an earlier one of its address is woken by that one; 50 ms keeps this from spinning.
    this.#cancelTimer = this.#o.clock.after(Math.max(50, at - this.#o.clock.now()), () => this.wake());
  }

  async #attempt(claimed: ClaimedOp): Promise<void> {
    const { reach, db, tenant, owner } = this.#o;
    reach("send:claimed");
    const settlement = await this.#settlementFor(claimed);
    const settled = await db.do(settleOp, {
      tenant,
      op: claimed.id,
      owner,
      fence: claimed.fence,
      settlement,
    });
    reach("receipt:after-commit");
    const fields = {
      delivery: claimed.delivery,
      op: claimed.id,
      attempt: claimed.attempt,
      outcome: settlement.kind,
    };
    this.#o.log.debug(fields, "an op was attempted");
    if (settled) this.#o.onSettled?.(settled.delivery, claimed.address, settled.state);
  }

  async #settlementFor(claimed: ClaimedOp): Promise<OpSettlement> {
    const sender = this.#o.senders.get(claimed.channel);
    if (!sender) return { kind: "blocked", reason: `no channel ${claimed.channel} is configured` };
    const address = parseAddress(claimed.address);
    const allowed = sender.allows(address, claimed.conversationKind as ConversationKind);
    if (allowed !== true) return { kind: "blocked", reason: allowed };
    const op = this.#outgoing(claimed, address);
    if (op.kind === "delete" && op.target === null)
      return { kind: "done", platformId: null, permalink: null };
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(this.#o.retry.timeoutMs)]);
    if (claimed.ambiguous) {
      const found = await attempt<ReconcileOutcome>(
        () => sender.reconcile(op, signal),
        (reason) => ({ kind: "retry", reason }),
      );
      if (found.kind !== "send-again") return this.#ofReconcile(found, claimed);
    }
    this.#o.reach("send:before-request");
    const sent = await attempt<SendOutcome>(
      () => sender.send(op, signal),
      (reason) => ({ kind: "unclear", reason }),
    );
    this.#o.reach("send:after-request");
    return this.#ofSend(sent, claimed);
  }

  /** An edit whose post never came to be is sent as a post of its own, so that the answer is not lost with it. */
  #outgoing(claimed: ClaimedOp, address: OutgoingOp["address"]): OutgoingOp {
    const kind = claimed.kind === "edit" && claimed.target === null ? "create" : claimed.kind;
    const { id, delivery, part, text, target, run, turn, attempt: count } = claimed;
    return { id, delivery, key: id, address, kind, part, text, target, run, turn, attempt: count };
  }

  #ofReconcile(outcome: Exclude<ReconcileOutcome, { kind: "send-again" }>, op: ClaimedOp): OpSettlement {
    switch (outcome.kind) {
      case "found":
        return done(outcome.receipt);
      case "unknown":
        return { kind: "unknown", reason: outcome.reason };
      case "retry":
        return this.#tryLater(op, outcome.reason, outcome.afterMs, true);
    }
  }

  #ofSend(outcome: SendOutcome, op: ClaimedOp): OpSettlement {
    switch (outcome.kind) {
      case "sent":
        return done(outcome.receipt);
      case "retry":
        return this.#tryLater(op, outcome.reason, outcome.afterMs, false);
      case "unclear":
        return this.#tryLater(op, outcome.reason, undefined, true);
      case "blocked":
        return { kind: "blocked", reason: outcome.reason };
      case "refused":
        return { kind: "dead", reason: outcome.reason };
    }
  }

  #tryLater(op: ClaimedOp, reason: string, afterMs: number | undefined, ambiguous: boolean): OpSettlement {
    const { attempts, firstMs, mostMs } = this.#o.retry;
    if (op.attempt >= attempts) {
      return ambiguous
        ? { kind: "unknown", reason }
        : { kind: "dead", reason: `gave up after ${op.attempt} attempts: ${reason}` };
    }
    const pause = Math.min(mostMs, firstMs * 2 ** (op.attempt - 1));
    // Half of the pause is by chance, so that many ops that failed together do not come back together.
    const jittered = pause / 2 + (pause / 2) * this.#o.random();
    return { kind: "retry", inMs: Math.round(Math.max(jittered, afterMs ?? 0)), reason, ambiguous };
  }

  /** Begins nothing new; waits until what is under way has settled, at most `ms`, then cuts it. */
  async stop(ms: number): Promise<void> {
    this.#cancelTimer?.();
    this.#again = false;
    const settled = Promise.allSettled(this.#working);
    let cancel = (): void => {};
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#o.clock.after(ms, resolve);
    });
    await Promise.race([settled, timeout]);
    cancel();
    this.#stop.abort();
    await Promise.allSettled(this.#working);
  }
}

function done(receipt: { platformId: string; permalink?: string | null }): OpSettlement {
  return { kind: "done", platformId: receipt.platformId, permalink: receipt.permalink ?? null };
}

async function attempt<T>(work: () => Promise<T>, onThrow: (reason: string) => T): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    return onThrow(thrown instanceof Error ? thrown.message : String(thrown));
  }
}
