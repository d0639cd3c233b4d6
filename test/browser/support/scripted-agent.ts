import { agent } from "../../../src/agents/agent-factory.ts";
import type { Agent, RunContext } from "../../../src/agents/agent.ts";

/** One answer, given token by token by the test. */
export interface Part {
  /** Resolves when the agent was asked. */
  asked: Promise<RunContext>;
  say(...tokens: string[]): void;
  /** Ends the answer. */
  end(): void;
  /** The agent throws. */
  fail(): void;
}

interface Cue {
  token: string | null;
  fails: boolean;
}

/** An agent whose answers a test writes while they are given; a question is known by its text. */
export class ScriptedAgent {
  readonly agent: Agent = agent.fn((ctx) => this.#answer(ctx));
  readonly #parts = new Map<string, { part: Part; begin: (ctx: RunContext) => void; cues: Cues }>();

  /** The answer to a question, which may be asked before or after this. */
  to(question: string): Part {
    return this.#entry(question).part;
  }

  #entry(question: string) {
    let entry = this.#parts.get(question);
    if (!entry) {
      const { promise, resolve } = Promise.withResolvers<RunContext>();
      const cues = new Cues();
      const part: Part = {
        asked: promise,
        say: (...tokens) => {
          for (const token of tokens) cues.put({ token, fails: false });
        },
        end: () => cues.put({ token: null, fails: false }),
        fail: () => cues.put({ token: null, fails: true }),
      };
      entry = { part, begin: resolve, cues };
      this.#parts.set(question, entry);
    }
    return entry;
  }

  async *#answer(ctx: RunContext): AsyncGenerator<string, undefined, undefined> {
    const { begin, cues } = this.#entry(ctx.text);
    begin(ctx);
    for (;;) {
      const { token, fails } = await cues.take(ctx.signal);
      if (fails) throw new Error("The test made this answer fail.");
      if (token === null) return undefined;
      yield token;
    }
  }
}

class Cues {
  readonly #waiting: Cue[] = [];
  #wake: (() => void) | null = null;

  put(cue: Cue): void {
    this.#waiting.push(cue);
    this.#wake?.();
  }

  async take(signal: AbortSignal): Promise<Cue> {
    for (;;) {
      signal.throwIfAborted();
      const cue = this.#waiting.shift();
      if (cue) return cue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }
}
