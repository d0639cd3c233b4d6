import type { RunContext } from "../agent.ts";

/** Tokens as the AI SDK counts them; what a provider did not report is absent. */
export interface TokenCounts {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** The last model call of a run, as it ended. */
export interface CallEnd {
  finishReason: string;
  rawFinishReason: string | undefined;
  usage: TokenCounts;
}

/**
 * Counts the model calls (steps) of one run into `ctx.use`, and keeps the first thing that went wrong.
 *
 * A step is told of from two sides, by a callback of the AI SDK and by the parts of the stream, because neither is
 * there for every kind of agent: the callback comes in time to prevent the next call, and the parts always come. Each
 * step counts once, by its number from 0. A step counts when it begins, so that a limit of 3 steps means that a
 * fourth call is never made.
 */
export class CallMeter {
  readonly #ctx: RunContext;
  readonly #abort: (reason: Error) => void;
  #begun = 0;
  #ended = 0;
  #failure: Error | undefined;
  #last: CallEnd | undefined;
  /** Provider and model of the last call, as far as known. */
  provider: string | undefined;
  model: string | undefined;
  /** True once the model has written a text that is not empty. */
  wrote = false;

  constructor(ctx: RunContext, abort: (reason: Error) => void) {
    this.#ctx = ctx;
    this.#abort = abort;
  }

  /** The first failure: a limit, or what the provider did. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get last(): CallEnd | undefined {
    return this.#last;
  }

  get steps(): number {
    return this.#begun;
  }

  /** A model call is about to be made. @throws WaybillError `step_limit`. */
  begin(step: number): void {
    if (step < this.#begun) return;
    this.#begun = step + 1;
    this.#limited(() => this.#ctx.use({ steps: 1 }));
  }

  /** A model call has ended. @throws WaybillError `token_limit`. */
  end(step: number, end: CallEnd): void {
    if (step < this.#ended) return;
    this.#ended = step + 1;
    this.#last = end;
    this.#limited(() => useTokens(this.#ctx, end.usage));
  }

  /** Keeps the first failure and aborts the model call. */
  fail(error: Error): Error {
    if (!this.#failure) {
      this.#failure = error;
      this.#abort(error);
    }
    return this.#failure;
  }

  #limited(use: () => void): void {
    try {
      use();
    } catch (thrown) {
      throw this.fail(thrown as Error);
    }
  }
}

/** Adds tokens, and the number of `steps` (an array of step results) if given, to the run's usage. */
export function useTokens(ctx: RunContext, usage: TokenCounts, steps?: unknown): void {
  ctx.use({
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    ...(Array.isArray(steps) ? { steps: steps.length } : {}),
  });
}
