import type { Agent, RunContext, UIChunk } from "../agent.ts";
import { describeAgent, invalid, type AgentOptions } from "../agent-options.ts";
import { raceAbort, throwIfAborted } from "../race-abort.ts";
import type { StreamResult } from "../sdk/merge-result.ts";
import { emitOutput } from "./emit-output.ts";

/**
 * What a function may return: text, nothing, `{ text }`, the result of the AI SDK's `streamText` or of an agent's
 * `stream`, a UI message stream, or a stream of texts.
 */
export type FunctionOutput =
  | string
  | void
  | null
  | undefined
  | { text: string }
  | StreamResult
  | ReadableStream<string>
  | ReadableStream<UIChunk>
  | AsyncIterable<string>
  | AsyncIterable<UIChunk>;

/** A function as an agent. An (async) generator yields texts, each of which is one delta of the answer. */
export type AgentFunction = (
  ctx: RunContext,
) =>
  | FunctionOutput
  | Promise<FunctionOutput>
  | AsyncGenerator<string, FunctionOutput, undefined>
  | Generator<string, FunctionOutput, undefined>;

/**
 * Makes an agent of a function.
 *
 * A run fails with `agent_bad_output` when the function yields or returns something else than `FunctionOutput`, and
 * with what the function threw. When `ctx.signal` aborts, the run ends at once, even if the function hangs; it is
 * asked to return (a generator's `finally` runs when it next gets there) and not waited for.
 * @throws WaybillError `config_invalid` for something that is no function, or an option that does not exist.
 */
export function fnAgent(f: AgentFunction, options: AgentOptions = {}): Agent {
  if (typeof f !== "function") {
    throw invalid(
      `agent.fn: the first argument must be a function, and it is ${f === null ? "null" : typeof f}.`,
      {
        field: "f",
      },
    );
  }
  const description = describeAgent(
    { kind: "fn", ownOptions: [], steerable: false, models: [], settings: null },
    options,
  );
  return { ...description, run: (ctx) => runFunction(f, ctx) };
}

async function runFunction(f: AgentFunction, ctx: RunContext): Promise<void> {
  throwIfAborted(ctx.signal);
  const work = async () => emitOutput(await f(ctx), ctx);
  await raceAbort(ctx.signal, work());
}
