import type { Database } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import { renewLease } from "../ledger/nodes.ts";
import type { AbortCause } from "../ledger/run.ts";

export interface HeartbeatOptions {
  tenant: string;
  boot: string;
  leaseMs: number;
  db: Database;
  clock: Clock;
  log: Logger;
  /** Runs of this node that somebody, perhaps through another node, asked to end. */
  onAborts(asked: readonly { run: string; cause: AbortCause }[]): void;
  /** The lease is gone or about to be: whatever runs here must stop, since another node may take it over. */
  onLost(forGood: boolean): void;
  /** Called with every beat: the time to look for nodes that died. */
  onBeat(): void;
}

/**
 * One heartbeat for a whole node. A watchdog on the same clock acts when no renewal was confirmed in time, whatever the
 * reason: a store that is away, or a process that was frozen.
 */
export class Heartbeat {
  readonly #o: HeartbeatOptions;
  #confirmed: number;
  #cancel: (() => void) | null = null;
  #stopped = false;

  constructor(options: HeartbeatOptions) {
    this.#o = options;
    this.#confirmed = options.clock.now();
  }

  start(): void {
    this.#schedule();
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancel = this.#o.clock.after(this.#o.leaseMs / 3, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    const { db, tenant, boot, leaseMs, clock, log } = this.#o;
    const asked = clock.now();
    // On SQLite this process holds the file alone: nobody can have taken anything over, however long it slept.
    const isShared = db.dialect === "postgres";
    if (isShared && asked - this.#confirmed > leaseMs * 0.9) this.#o.onLost(false);
    try {
      const { renewed, aborts } = await db.do(renewLease, { tenant, boot, leaseMs });
      if (this.#stopped) return;
      if (!renewed) {
        this.#stopped = true;
        this.#o.onLost(true);
        return;
      }
      this.#confirmed = asked;
      if (aborts.length > 0) this.#o.onAborts(aborts);
      this.#o.onBeat();
    } catch (error) {
      log.error({ error: String(error) }, "the lease of this node could not be renewed");
    }
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }
}
