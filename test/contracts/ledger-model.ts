/** Two nodes and people do things to one ledger at random, several at once; after each round the rules are held against it. */
import fc from "fast-check";
import { expect } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { WaybillError } from "../../src/kernel/errors.ts";
import { askAbort, stopPlace } from "../../src/ledger/ask-abort.ts";
import { requeueAstray } from "../../src/runs/recover-runs.ts";
import { type Claim, LedgerHarness } from "./ledger-harness.ts";
import { checkInvariants, snapshot, type Snapshot } from "./ledger-invariants.ts";

const lanes = ["a", "b", "c"];

const node = fc.nat({ max: 1 });
const lane = fc.constantFrom(...lanes);
const pick = fc.nat({ max: 1_000 });

const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("accept" as const),
      lane,
      background: fc.boolean(),
      recovery: fc.constantFrom("notify" as const, "retry" as const),
      followUp: fc.constantFrom("queue" as const, "interrupt" as const),
      sender: fc.constantFrom("ann", "bob"),
      again: fc.boolean(),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({ do: fc.constant("claim" as const), node, limit: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("finish" as const),
      node,
      pick,
      how: fc.constantFrom(
        "completed" as const,
        "failed" as const,
        "silent" as const,
        "interrupted" as const,
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("finish-stale" as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("say" as const, "start" as const, "absorb" as const, "forget" as const),
      node,
      pick,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop" as const), lane }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("die" as const), node }) },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Rounds, each of actions that are done at once. */
export const history = fc.array(fc.array(action, { minLength: 1, maxLength: 4 }), {
  minLength: 8,
  maxLength: 16,
});

interface Node {
  boot: string;
  held: Claim[];
}

export class LedgerModel {
  readonly #ledger: LedgerHarness;
  readonly #nodes: Node[];
  /** Claims of nodes that died, and claims that were finished: whoever holds one may write nothing. */
  readonly #stale: Claim[] = [];
  readonly #runs: string[] = [];
  readonly #messages: { id: string; lane: string; run: string | null }[] = [];
  readonly #fences = new Map<string, number>();
  #said = 0;
  #before: Snapshot | null = null;

  private constructor(ledger: LedgerHarness, nodes: Node[]) {
    this.#ledger = ledger;
    this.#nodes = nodes;
  }

  static async begin(db: Database): Promise<LedgerModel> {
    const ledger = new LedgerHarness(db);
    const boots = [await ledger.register(), await ledger.register()];
    return new LedgerModel(
      ledger,
      boots.map((boot) => ({ boot, held: [] })),
    );
  }

  async round(actions: readonly Action[]): Promise<void> {
    await Promise.all(actions.map((one) => this.#act(one)));
    await this.#check();
  }

  /** Everything that was accepted comes to an end. */
  async drain(): Promise<void> {
    for (;;) {
      for (const one of this.#nodes) {
        await this.#claim(one, 50);
        await Promise.all(one.held.splice(0).map((claim) => this.#finish(claim, "completed")));
      }
      await this.#check();
      const open = this.#before?.runs.filter((run) => run.finished_at === null) ?? [];
      if (open.length === 0) return;
      const moves = open.some((run) => run.ready === 1) || this.#nodes.some(({ held }) => held.length > 0);
      expect(moves, `nothing moves any more: ${JSON.stringify(open.map((run) => [run.id, run.state]))}`).toBe(
        true,
      );
    }
  }

  async #check(): Promise<void> {
    const now = await snapshot(this.#ledger);
    checkInvariants(now, this.#before);
    this.#before = now;
    const asked = now.messages.filter((post) => post.role === "user");
    expect(asked.length, "messages of people").toBe(this.#messages.length);
  }

  async #act(one: Action): Promise<void> {
    switch (one.do) {
      case "accept":
        return this.#accept(one);
      case "claim":
        return this.#claim(this.#nodeAt(one.node), one.limit);
      case "finish": {
        const claim = this.#take(one.node, one.pick);
        return claim && this.#finish(claim, one.how);
      }
      case "finish-stale": {
        const claim = this.#stale[one.pick % this.#stale.length];
        if (claim) await expectLost(this.#ledger.finish(claim, "completed"));
        return;
      }
      case "say":
      case "start":
      case "absorb":
        return this.#write(one.do, one.node, one.pick);
      case "forget":
        return this.#forget(one.node, one.pick);
      case "cancel": {
        const run = this.#runs[one.pick % this.#runs.length];
        const asked = {
          tenant: this.#ledger.tenant,
          run: run ?? "",
          cause: "cancel",
          reason: "cancel",
        } as const;
        if (run) await tolerate(["run_finished"], this.#ledger.db.do(askAbort, asked));
        return;
      }
      case "stop": {
        const { address } = this.#ledger.place(one.lane);
        await this.#ledger.db.do(stopPlace, { tenant: this.#ledger.tenant, address, reason: "cancel" });
        return;
      }
      case "die":
        return this.#die(one.node);
    }
  }

  #nodeAt(index: number): Node {
    const found = this.#nodes[index];
    if (!found) throw new Error(`There is no node ${index}.`);
    return found;
  }

  async #accept(one: Extract<Action, { do: "accept" }>): Promise<void> {
    const before = one.again ? this.#messages.find((message) => message.lane === one.lane) : undefined;
    const agent = one.background ? "worker" : "assistant";
    const asked = { ...one, agent, ...(before ? { id: before.id } : {}) };
    if (before) {
      const { accepted } = await this.#ledger.accept(asked);
      expect([accepted.repeated, accepted.run]).toEqual([true, before.run]);
      return;
    }
    const id = `m${(this.#said += 1)}`;
    const { accepted } = await this.#ledger.accept({ ...asked, id });
    this.#messages.push({ id, lane: one.lane, run: accepted.run });
    if (accepted.run) this.#runs.push(accepted.run);
  }

  async #claim(by: Node, limit: number): Promise<void> {
    const { boot } = by;
    for (const claim of await this.#ledger.claim(boot, limit)) {
      const { run, fence } = claim;
      expect(fence.fence, `the fence of ${run.id}`).toBeGreaterThan(this.#fences.get(run.id) ?? 0);
      this.#fences.set(run.id, fence.fence);
      // The node may have died while the answer was on its way.
      (by.boot === boot ? by.held : this.#stale).push(claim);
    }
  }

  #take(index: number, which: number): Claim | undefined {
    const { held } = this.#nodeAt(index);
    return held.splice(held.length === 0 ? 0 : which % held.length, 1)[0];
  }

  async #finish(claim: Claim, how: "completed" | "failed" | "silent" | "interrupted"): Promise<void> {
    // A node that dies meanwhile loses the run; that alone may refuse it.
    await tolerate(["run_lost"], this.#ledger.finish(claim, how));
    this.#stale.push(claim);
  }

  async #write(what: "say" | "start" | "absorb", index: number, which: number): Promise<void> {
    const { held } = this.#nodeAt(index);
    const claim = held[which % Math.max(1, held.length)];
    if (!claim || (what === "absorb" && !claim.run.foreground)) return;
    await tolerate(
      ["run_lost"],
      this.#ledger[what](claim).then((job) => this.#noteJob(job)),
    );
  }

  /** The answer to a claim was lost on its way: the node puts the run back, and may claim it again. */
  async #forget(index: number, which: number): Promise<void> {
    const claim = this.#take(index, which);
    if (!claim) return;
    const inHand = { has: (run: string) => run !== claim.run.id };
    await tolerate(["run_lost"], requeueAstray(this.#ledger.services(claim.node), inHand));
    this.#stale.push(claim);
  }

  #noteJob(job: unknown): void {
    if (typeof job === "string") this.#runs.push(job);
  }

  /** A node's lease runs out; the other one recovers what it had, and it comes back under a new boot id. */
  async #die(index: number): Promise<void> {
    const dead = this.#nodeAt(index);
    const other = this.#nodeAt(1 - index);
    const { boot, held } = dead;
    dead.boot = await this.#ledger.register();
    dead.held = [];
    await this.#ledger.expire(boot);
    await this.#ledger.recover(other.boot);
    // Both may have died at once, and the one that buries is buried itself: then the next one finds what is left.
    await this.#ledger.recover(dead.boot);
    this.#stale.push(...held);
  }
}

async function tolerate(codes: readonly string[], work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof WaybillError && codes.includes(error.code)) return;
    throw error;
  }
}

async function expectLost(work: Promise<unknown>): Promise<void> {
  await expect(work).rejects.toMatchObject({ code: "run_lost" });
}
