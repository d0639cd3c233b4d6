/**
 * Random interleavings: turns of many conversations on few processes, which answer in any order and in pieces, crash,
 * are cancelled, say things about turns that are over or another's, and end by themselves. Whatever happens, each run
 * has what its own turn was told, in order, and nothing else.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { fakeContext, type FakeContext } from "../fake-context.ts";
import { makePuppets, type HeldTurn, type Puppets } from "./puppets.ts";
import { manualClock } from "../../../src/kernel/clock.ts";
import { silentLogger } from "../../../src/kernel/logger.ts";
import type { OpenAgent } from "../../../src/agents/agent.ts";
import { processAgent } from "../../../src/agents/process/process-agent.ts";

type Step =
  | { do: "ask" }
  | { do: "text" | "say" | "answer" | "error" | "cancel" | "crash" | "leave" | "stray"; which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: "ask" as const }) },
  ...(
    [
      ["text", 8],
      ["say", 4],
      ["answer", 6],
      ["error", 1],
      ["cancel", 2],
      ["crash", 1],
      ["leave", 1],
      ["stray", 4],
    ] as const
  ).map(([what, weight]) => ({
    weight,
    arbitrary: fc.nat({ max: 1_000 }).map((which) => ({ do: what, which })),
  })),
);

interface Asked {
  text: string;
  fake: FakeContext;
  held: HeldTurn | null;
  /** What its process has said for it, which is what must come out. */
  texts: string[];
  said: string[];
  outcome: "open" | "answered" | "failed" | "cancelled" | "crashed";
  ended: Promise<string>;
  /** What it ended with, once it has. */
  result: string | null;
}

/** One random story on one pool. */
class Story {
  readonly asked: Asked[] = [];
  readonly #agent: OpenAgent;
  readonly #puppets: Puppets;
  readonly #name: string;
  #pieces = 0;

  constructor(agent: OpenAgent, puppets: Puppets, name: string) {
    this.#agent = agent;
    this.#puppets = puppets;
    this.#name = name;
  }

  async take(step_: Step): Promise<void> {
    if (step_.do === "ask") return this.#ask();
    const held = await this.#held();
    const one = held[step_.which % Math.max(held.length, 1)];
    if (!one?.held) return;
    const turn = one.held;
    switch (step_.do) {
      case "text":
        turn.say({ type: "text", text: this.#piece(one, one.texts) });
        break;
      case "say":
        turn.say({ type: "say", id: 1, text: this.#piece(one, one.said) });
        break;
      case "answer":
        one.outcome = "answered";
        turn.say({ type: "done", text: this.#piece(one, one.texts) });
        break;
      case "error":
        one.outcome = "failed";
        turn.say({ type: "error", message: "no" });
        break;
      case "cancel":
        return this.#cancel(one, turn);
      case "crash":
        for (const other of held) if (other.held?.puppet === turn.puppet) other.outcome = "crashed";
        turn.puppet.order({ kind: "kill", signal: "SIGKILL" });
        break;
      case "leave":
        turn.puppet.say({ type: "bye" });
        break;
      case "stray":
        this.#stray(turn, step_.which);
        break;
    }
    if (one.outcome !== "open") await one.ended;
  }

  /** A line about a turn that is not this process's to speak of. */
  #stray(turn: HeldTurn, which: number): void {
    const others = this.asked.filter(
      ({ held, outcome }) => held && (held.puppet !== turn.puppet || outcome !== "open"),
    );
    const other = others[which % Math.max(others.length, 1)]?.held?.id;
    const named = which % 3 === 0 ? {} : { turn: other ?? "run_unknown-1" };
    turn.puppet.say({ type: "text", text: "STRAY", ...named });
    turn.puppet.say({ type: "say", id: 9, text: "STRAY", ...named });
    turn.puppet.say({ type: "done", text: "STRAY", ...named });
  }

  async #cancel(one: Asked, turn: HeldTurn): Promise<void> {
    // What is on its way when the cancel comes may still count, so it is waited for.
    turn.say({ type: "progress", id: "sync", text: "x" });
    await turn.puppet.line("result", (line) => line["id"] === "sync" && line["turn"] === turn.id);
    one.outcome = "cancelled";
    one.fake.abort(new Error("cancelled"));
    await one.ended;
    turn.say({ type: "text", text: "STRAY" });
    turn.say({ type: "done", text: "STRAY" });
  }

  #ask(): void {
    const text = `${this.#name}-${this.asked.length}`;
    const fake = fakeContext({ text });
    const running = this.#agent.run({ ...fake.ctx, run: { ...fake.ctx.run, id: `run_${text}` } });
    const ended = running.then(
      () => "answered",
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
    const one: Asked = { text, fake, held: null, texts: [], said: [], outcome: "open", ended, result: null };
    this.asked.push(one);
    void ended.then((result) => {
      one.result = result;
      // Given to a process that crashed before we saw that it has the turn.
      if (one.outcome === "open" && !one.held && result === "agent_crashed") one.outcome = "crashed";
    });
  }

  #piece(one: Asked, into: string[]): string {
    this.#pieces += 1;
    const piece = `${one.text}/${this.#pieces}`;
    into.push(piece);
    return piece;
  }

  /** The turns that processes have in hand, after waiting for the one that must come next, if there is room for it. */
  async #held(): Promise<Asked[]> {
    const isOpen = ({ outcome }: Asked): boolean => outcome === "open";
    for (;;) {
      const open = this.asked.filter(isOpen);
      for (const one of open) {
        if (!one.held && this.#puppets.has(one.text)) one.held = await this.#puppets.turn(one.text);
      }
      const held = open.filter((one) => one.held && isOpen(one));
      if (held.length > 0 || open.length === 0) return held;
      const [next] = open;
      await Promise.race([
        this.#puppets.until(`the turn ${next!.text}`, () => this.#puppets.has(next!.text) || undefined),
        next!.ended,
      ]);
    }
  }

  /** Ends what is open, in order, and compares. */
  async check(): Promise<void> {
    for (;;) {
      const [one] = await this.#held();
      if (!one) break;
      await this.take({ do: "answer", which: 0 });
    }
    const wanted = {
      answered: "answered",
      failed: "agent_failed",
      cancelled: "cancelled",
      crashed: "agent_crashed",
    };
    for (const one of this.asked) {
      const { outcome } = one;
      if (outcome === "open") throw new Error(`${one.text} was never given to a process.`);
      expect([one.text, await one.ended]).toEqual([one.text, wanted[outcome]]);
      // Before a crash the last pieces may be lost with the process; what came is its own and in order.
      const isWhole = outcome !== "crashed";
      expect(one.fake.deltas).toEqual(isWhole ? one.texts : one.texts.slice(0, one.fake.deltas.length));
      expect(one.fake.said).toEqual(isWhole ? one.said : one.said.slice(0, one.fake.said.length));
    }
  }
}

export async function tellStories(runs: number, seed: number, length: number): Promise<void> {
  await using puppets = await makePuppets();
  const met = new Map<string, number>();
  let name = 0;
  const story = fc.asyncProperty(
    fc.array(step, { minLength: length / 2, maxLength: length }),
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 3 }),
    async (steps, max, concurrentTurns) => {
      const options = puppets.options({ pool: { max, concurrentTurns } });
      // Pauses after crashes are no matter of this test.
      const clock = {
        ...manualClock(),
        after: (ms: number, act: () => void) => (ms <= 2_000 ? soon(act) : () => {}),
      };
      const agent = processAgent(options).open!({ agent: "helper", boot: "b", log: silentLogger, clock });
      name += 1;
      const one = new Story(agent, puppets, `s${name}`);
      try {
        for (const what of steps) {
          met.set(what.do, (met.get(what.do) ?? 0) + 1);
          await one.take(what);
        }
        await one.check();
      } finally {
        await agent.stop();
      }
    },
  );
  await fc.assert(story, { numRuns: runs, seed });
  for (const what of ["ask", "text", "say", "answer", "cancel", "crash", "leave", "stray"]) {
    expect([what, (met.get(what) ?? 0) > 0]).toEqual([what, true]);
  }
}

function soon(act: () => void): () => void {
  const timer = setImmediate(act);
  return () => clearImmediate(timer);
}
