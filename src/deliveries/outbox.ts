import type { Database } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ReachCrashPoint } from "../kernel/crash-points.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { Logger } from "../kernel/logger.ts";
import { attemptOp, type RetrySettings } from "./attempt-op.ts";
import { claimOps, readNextDue, type ClaimedOp } from "./claim-ops.ts";
import type { DeliveryState, Sender } from "./sender.ts";
import { settleOp, type SettleInput } from "./settle-op.ts";

export type { RetrySettings } from "./attempt-op.ts";

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

export const defaultRetry: RetrySettings = { attempts: 12, firstMs: 500, mostMs: 300_000, timeoutMs: 30_000 };

/** Ops of one channel under way at once, so that a platform that hangs holds up no other; of one address never more than one. */
const AT_ONCE = 64;
/** How often a node looks by itself; wake-ups and the timer of the next op make it faster, and losing one costs this. */
const POLL_MS = 5_000;
/** The pause after the store failed, or had something due that could not be claimed. */
const AGAIN_MS = 250;

/**
 * Sends what is due. Delivery is at least once plus deduplication: an attempt whose outcome is unclear is reconciled
 * before anything is sent again, and what cannot be settled is `unknown`, never silently repeated.
 */
export class Outbox {
  readonly #queues: readonly ChannelQueue[];
  readonly #clock: Clock;

  constructor(options: OutboxOptions) {
    this.#clock = options.clock;
    // What is posted within a transaction has no ops.
    const senders = [...options.senders.values()].filter((sender) => !sender.inTransaction);
    this.#queues = senders.map((sender) => new ChannelQueue(options, sender));
  }

  /** Something may be due. Cheap to call often. */
  wake(): void {
    for (const queue of this.#queues) queue.wake();
  }

  /** Goes on sending what is due until nothing is, at most for `ms`; then cuts what is still under way. */
  async stop(ms: number): Promise<void> {
    let cancel = (): void => {};
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#clock.after(ms, resolve);
    });
    this.wake();
    await Promise.race([Promise.all(this.#queues.map((queue) => queue.idle())), timeout]);
    cancel();
    await Promise.all(this.#queues.map((queue) => queue.cut()));
  }
}

/** The ops of one channel. */
class ChannelQueue {
  readonly #o: OutboxOptions;
  readonly #sender: Sender;
  /** Attempts under way, by op. */
  readonly #inHand = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #claiming: Promise<void> | null = null;
  #again = false;
  /** True: the answer to a claim or settlement was lost, so the store may count ops as ours that we do not have. */
  #astray = false;
  #cancelTimer: (() => void) | null = null;

  constructor(options: OutboxOptions, sender: Sender) {
    this.#o = options;
    this.#sender = sender;
  }

  wake(): void {
    this.#again = true;
    if (this.#claiming || this.#stop.signal.aborted) return;
    this.#claiming = this.#claimAll().finally(() => {
      this.#claiming = null;
      if (this.#again && this.#inHand.size < AT_ONCE) this.wake();
    });
  }

  async #claimAll(): Promise<void> {
    let looked = false;
    while (this.#again && !this.#stop.signal.aborted) {
      const room = AT_ONCE - this.#inHand.size;
      if (room <= 0) return; // An attempt that ends wakes us.
      this.#again = false;
      try {
        const ops = await this.#claim(room);
        for (const op of ops) this.#begin(op);
        const inMs = ops.length === room ? 0 : await this.#nextInMs();
        if (inMs > 0) {
          this.#arm(Math.min(inMs, POLL_MS));
        } else if (ops.length > 0 || !looked) {
          this.#again = true; // Became due meanwhile.
          looked = true;
        } else {
          this.#arm(AGAIN_MS); // Another node has it in hand, or this one may claim no more.
        }
      } catch (error) {
        this.#o.log.error(
          { error: String(error), channel: this.#sender.channel },
          "ops could not be claimed",
        );
        this.#astray = true;
        this.#arm(AGAIN_MS);
      }
    }
  }

  async #claim(limit: number): Promise<ClaimedOp[]> {
    const { tenant, owner, db } = this.#o;
    const inHand = this.#astray ? [...this.#inHand.keys()] : null;
    const ops = await db.do(claimOps, { tenant, owner, channel: this.#sender.channel, limit, inHand });
    this.#astray = false;
    return ops;
  }

  async #nextInMs(): Promise<number> {
    const { tenant, db, clock } = this.#o;
    const now = clock.now();
    const [next] = await db.read(readNextDue, { tenant, channel: this.#sender.channel, now });
    return next ? next.in_ms - (clock.now() - now) : POLL_MS;
  }

  #arm(ms: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#stop.signal.aborted ? null : this.#o.clock.after(ms, () => this.wake());
  }

  #begin(op: ClaimedOp): void {
    const work = this.#attempt(op).then(
      () => {
        this.#inHand.delete(op.id);
        this.wake();
      },
      (error: unknown) => {
        // The op still counts as ours; the next claim gives it back.
        this.#inHand.delete(op.id);
        this.#astray = true;
        this.#o.log.error({ op: op.id, error: String(error) }, "an op could not be settled");
        this.#arm(AGAIN_MS);
      },
    );
    this.#inHand.set(op.id, work);
  }

  async #attempt(op: ClaimedOp): Promise<void> {
    const { reach, tenant, owner, retry, clock, random } = this.#o;
    reach("send:claimed");
    const context = { sender: this.#sender, retry, clock, random, reach, signal: this.#stop.signal };
    const settlement = await attemptOp(op, context);
    const settled = await this.#settle({ tenant, op: op.id, owner, fence: op.fence, settlement });
    reach("receipt:after-commit");
    const fields = { delivery: op.delivery, op: op.id, attempt: op.attempt, outcome: settlement.kind };
    this.#o.log.debug(fields, "an op was attempted");
    if (settled) this.#o.onSettled?.(settled.delivery, op.address, settled.state);
  }

  /** What the platform has done is known only here: while the store is away, this waits for it. */
  async #settle(input: SettleInput): Promise<{ delivery: string; state: DeliveryState } | null> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#o.db.do(settleOp, input);
      } catch (error) {
        const isAway =
          error instanceof WaybillError &&
          (error.code === "store_unavailable" || error.code === "store_full");
        if (!isAway || this.#stop.signal.aborted) throw error;
        await this.#pause(Math.min(POLL_MS, 50 * 2 ** attempt));
      }
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#o.clock.after(ms, end);
      signal.addEventListener("abort", end);
    });
  }

  /** Resolves when nothing is under way and nothing is due. */
  async idle(): Promise<void> {
    while (this.#claiming || this.#inHand.size > 0) {
      await (this.#claiming ?? Promise.race(this.#inHand.values()));
    }
  }

  /** Begins nothing more and ends what is under way; what it had sent is reconciled by whoever claims it next. */
  async cut(): Promise<void> {
    this.#stop.abort();
    this.#cancelTimer?.();
    await this.#claiming;
    await Promise.all(this.#inHand.values());
  }
}
