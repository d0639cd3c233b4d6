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
 * reason: a store that is away or does not answer at all, or a process that was frozen.
 */
export class Heartbeat {
  readonly #o: HeartbeatOptions;
  #cancelBeat: (() => void) | null = null;
  #cancelWatch: (() => void) | null = null;
  #stopped = false;

  constructor(options: HeartbeatOptions) {
    this.#o = options;
  }

  /** @param registeredAt when the lease began */
  start(registeredAt: number): void {
    this.#watch(registeredAt);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancelBeat = this.#o.clock.after(this.#o.leaseMs / 3, () => void this.#beat());
  }

  /** Gives up what runs here shortly before the lease is over, unless a later renewal is confirmed by then. */
  #watch(confirmed: number): void {
    const { clock, db, leaseMs } = this.#o;
    this.#cancelWatch?.();
    // On SQLite this process holds the file alone: nobody can have taken anything over, however long it slept.
    if (db.dialect === "sqlite" || this.#stopped) return;
    this.#cancelWatch = clock.after(confirmed + leaseMs * 0.9 - clock.now(), () => {
      this.#o.onLost(false);
      // And again, for what is claimed while nothing is confirmed.
      this.#watch(clock.now() - leaseMs * 0.6);
    });
  }

  async #beat(): Promise<void> {
    const { db, tenant, boot, leaseMs, clock, log } = this.#o;
    const asked = clock.now();
    try {
      const { renewed, aborts } = await db.do(renewLease, { tenant, boot, leaseMs });
      if (this.#stopped) return;
      if (!renewed) {
        this.stop();
        this.#o.onLost(true);
        return;
      }
      this.#watch(asked);
      if (aborts.length > 0) this.#o.onAborts(aborts);
      this.#o.onBeat();
    } catch (error) {
      log.error({ error: String(error) }, "the lease of this node could not be renewed");
    }
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelBeat?.();
    this.#cancelWatch?.();
  }
}
