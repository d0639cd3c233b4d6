import type { Hold } from "../channels/channel.ts";
import type { Database } from "../db/database.ts";
import type { Logger } from "../kernel/logger.ts";
import { dropHold, takeHold } from "../ledger/holds.ts";
import { machineLock, type MachineLock } from "./machine-lock.ts";

interface Held {
  lost: AbortController;
  lock: MachineLock;
}

/**
 * What only one process at a time may have (`ChannelPorts.hold`). Two locks: a row, for the nodes of one store, which ends
 * with a node's lease; and a socket, for processes of one machine that have other stores.
 */
export class HoldKeeper {
  readonly #held = new Map<string, Held>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #o: { tenant: string; boot: string; db: Database; log: Logger };

  constructor(options: { tenant: string; boot: string; db: Database; log: Logger }) {
    this.#o = options;
  }

  async take(name: string): Promise<Hold> {
    const { tenant, boot, db } = this.#o;
    if (this.#held.has(name)) return this.#waitFor(name, "this process");
    const lock = await machineLock(name);
    if (!lock) return this.#waitFor(name, "another process of this machine");
    const by = await db.do(takeHold, { tenant, boot, name }).catch(async (error: unknown) => {
      await lock.release();
      throw error;
    });
    if (by !== null) {
      await lock.release();
      return this.#waitFor(name, by);
    }
    const held: Held = { lost: new AbortController(), lock };
    this.#held.set(name, held);
    return { held: true, lost: held.lost.signal, release: () => this.#release(name, held) };
  }

  #waitFor(name: string, by: string): Hold {
    const freed = new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(name) ?? new Set();
      this.#waiting.set(name, waiting.add(resolve));
    });
    return { held: false, by, freed };
  }

  async #release(name: string, held: Held): Promise<void> {
    if (this.#held.get(name) !== held) return;
    this.#held.delete(name);
    await held.lock.release();
    const { tenant, boot, db, log } = this.#o;
    await db
      .do(dropHold, { tenant, boot, name })
      .catch((error: unknown) => log.warn({ error: String(error) }, "a hold could not be given back"));
    this.#wake(name);
  }

  /** With each beat whoever stands by tries again: a holder may have gone without a word. */
  beat(): void {
    for (const name of this.#waiting.keys()) this.#wake(name);
  }

  #wake(name: string): void {
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const resolve of waiting) resolve();
  }

  /** The node's lease is gone: what it held may be another's at any moment. */
  loseAll(): void {
    for (const [name, held] of this.#held) {
      this.#held.delete(name);
      held.lost.abort(new Error("the lease of this node is over"));
      void held.lock.release();
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#held].map(([name, held]) => this.#release(name, held)));
  }
}
