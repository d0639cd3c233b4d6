import { claimRuns } from "../ledger/claim-runs.ts";
import type { AbortCause, ClaimedRun } from "../ledger/run.ts";
import { executeRun } from "./execute-run.ts";
import { LiveRun } from "./live-run.ts";
import { openWriter } from "./open-writer.ts";
import { requeueAstray } from "./recover-runs.ts";
import type { RunServices } from "./services.ts";

/** Runs taken by one claim. */
const BATCH = 64;
/** How often a node looks by itself; wake-ups make it faster, and losing one costs only this. */
const POLL_MS = 1_000;

/** Claims runs that are ready and executes them, as many at once as `capacity` allows. */
export class Executor {
  readonly #s: RunServices;
  readonly #capacity: number;
  readonly #live = new Map<string, { live: LiveRun; done: Promise<void> }>();
  readonly #versions: { name: string; version: string }[];
  #claiming: Promise<void> | null = null;
  /** A claim may have succeeded without our learning what it took. */
  #astray = false;
  #again = false;
  #open = false;
  #claimed = 0;
  #onWaited: (ms: number, agent: string) => void = () => {};
  #cancelPoll: () => void = () => {};

  constructor(services: RunServices, capacity: number) {
    this.#s = services;
    this.#capacity = capacity;
    this.#versions = services.agents.names.map((name) => ({
      name,
      version: services.agents.get(name).version,
    }));
  }

  get versions(): readonly { name: string; version: string }[] {
    return this.#versions;
  }

  get size(): number {
    return this.#live.size;
  }

  get claimed(): number {
    return this.#claimed;
  }

  /** Hears how long each run waited between its accept and its start. */
  onWaited(hear: (ms: number, agent: string) => void): void {
    this.#onWaited = hear;
  }

  start(): void {
    this.#open = true;
    this.#poll();
    this.wake();
  }

  #poll(): void {
    this.#cancelPoll = this.#s.clock.after(POLL_MS, () => {
      this.wake();
      this.#poll();
    });
  }

  /** Something may be ready. Cheap to call often; the claim goes to the store at once, behind what was just given to it. */
  wake(): void {
    this.#again = true;
    if (!this.#open || this.#claiming) return;
    this.#claiming = this.#claimAll().finally(() => {
      this.#claiming = null;
      if (this.#again && this.#open && this.#live.size < this.#capacity) this.wake();
    });
  }

  async #claimAll(): Promise<void> {
    while (this.#again && this.#open) {
      this.#again = false;
      const limit = Math.min(BATCH, this.#capacity - this.#live.size);
      if (limit <= 0) return; // A run that ends wakes us.
      try {
        const { tenant, owner, db } = this.#s;
        if (this.#astray) await requeueAstray(this.#s, this.#live);
        this.#astray = false;
        const runs = await db.do(claimRuns, { tenant, owner, agents: this.#versions, limit });
        if (runs.length > 0) this.#s.reach("claim:after-commit");
        for (const run of runs) this.#begin(run, run.waitedMs);
        if (runs.length === limit) this.#again = true;
      } catch (error) {
        this.#astray = true;
        this.#s.log.error({ error: String(error) }, "runs could not be claimed");
        return; // The next poll tries again.
      }
    }
  }

  #begin(run: ClaimedRun, waitedMs: number): void {
    const s = this.#s;
    this.#claimed += 1;
    this.#onWaited(waitedMs, run.agent);
    const live = new LiveRun(run, s.tenant, s.owner, s.ids.next("msg"), openWriter(s, run), s.answerLimit);
    const done = executeRun(s, live, s.agents.get(run.agent))
      .catch((error: unknown) => s.log.error({ run: run.id, error: String(error) }, "a run broke off"))
      .finally(() => {
        this.#live.delete(run.id);
        this.wake();
      });
    this.#live.set(run.id, { live, done });
  }

  /** A run that is executed here, now. */
  find(run: string): LiveRun | null {
    return this.#live.get(run)?.live ?? null;
  }

  /** Gives the signal to a run of this node; its cause has been stored. @returns false if it is not here */
  abort(run: string, cause: AbortCause): boolean {
    const found = this.#live.get(run);
    found?.live.giveUp(cause);
    return found !== undefined;
  }

  /** Nothing may be written any more: every run is ended, and what they still do is discarded. */
  loseAll(): void {
    for (const { live } of this.#live.values()) live.giveUp("lease_lost");
  }

  runs(): string[] {
    return [...this.#live.keys()];
  }

  /** Claims nothing more. */
  close(): void {
    this.#open = false;
    this.#cancelPoll();
  }

  /** Resolves when every run here has ended, or after `ms`. @returns the ids of those that have not */
  async settle(ms: number): Promise<string[]> {
    let cancel = (): void => {};
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#s.clock.after(ms, resolve);
    });
    await Promise.race([this.#idle(), timeout]);
    cancel();
    return this.runs();
  }

  async #idle(): Promise<void> {
    // A claim that is under way may still bring runs.
    await this.#claiming;
    await Promise.allSettled([...this.#live.values()].map(({ done }) => done));
  }
}
