import { setImmediate as nextTurnOfTheLoop } from "node:timers/promises";
import { WaybillError } from "../../kernel/errors.ts";
import type { RunContext, UIChunk } from "../agent.ts";
import { throwIfAborted } from "../race-abort.ts";
import { isStreamResult, mergeForeignResult } from "../sdk/merge-result.ts";
import { useTokens } from "../sdk/call-meter.ts";

/** After so many deltas without a pause the event loop gets a turn, so that a busy generator stops nobody. */
const deltasPerTurn = 64;

type AnyGenerator = Generator<unknown, unknown, undefined> | AsyncGenerator<unknown, unknown, undefined>;

/**
 * Streams what a function returned, whatever form it has.
 * @throws WaybillError `agent_bad_output` for a form that is no answer.
 */
export async function emitOutput(value: unknown, ctx: RunContext): Promise<void> {
  throwIfAborted(ctx.signal);
  if (value === undefined || value === null) return;
  if (typeof value === "string") return emitText(value, ctx);
  if (isGenerator(value)) return emitOutput(await pumpGenerator(value, ctx), ctx);
  if (isStreamResult(value)) return mergeForeignResult(ctx, value);
  if (isAsyncIterable(value)) return pumpStream(value, ctx);
  if (hasText(value)) {
    emitText(value.text, ctx);
    // The result of `generateText` has this form too, with what it used beside the text.
    if (value.usage) useTokens(ctx, value.usage, value.steps);
    return;
  }
  throw badOutput("returned", value);
}

function emitText(text: string, ctx: RunContext): void {
  if (text !== "") ctx.stream.text(text);
}

/** Passes each yield on as one delta, and gives the generator's return value. */
async function pumpGenerator(generator: AnyGenerator, ctx: RunContext): Promise<unknown> {
  // `return` waits in line behind a `next` that hangs, so nobody waits for it.
  const stop = () => void (async () => generator.return(undefined))().catch(() => {});
  ctx.signal.addEventListener("abort", stop, { once: true });
  try {
    for (let count = 1; ; count += 1) {
      const step = await generator.next();
      throwIfAborted(ctx.signal);
      if (step.done) return step.value;
      if (typeof step.value !== "string") throw badOutput("yielded", step.value);
      ctx.stream.text(step.value);
      if (count % deltasPerTurn === 0) await nextTurnOfTheLoop();
    }
  } catch (thrown) {
    stop();
    throw thrown;
  } finally {
    ctx.signal.removeEventListener("abort", stop);
  }
}

/** A stream of texts or a UI message stream; the first piece tells which. */
async function pumpStream(source: AsyncIterable<unknown>, ctx: RunContext): Promise<void> {
  const pieces = piecesOf(source);
  const stop = () => void (async () => pieces.return?.())().catch(() => {});
  ctx.signal.addEventListener("abort", stop, { once: true });
  try {
    const first = await pieces.next();
    throwIfAborted(ctx.signal);
    if (first.done) return;
    if (isChunk(first.value)) await ctx.stream.merge(checkedChunks(first.value, pieces, ctx.signal));
    else await pumpTexts(first.value, pieces, ctx);
  } catch (thrown) {
    stop();
    throw thrown;
  } finally {
    ctx.signal.removeEventListener("abort", stop);
  }
}

/** A ReadableStream's own iterator waits for a read that hangs before it cancels; its reader cancels at once. */
function piecesOf(source: AsyncIterable<unknown>): AsyncIterator<unknown, unknown> {
  if (!(source instanceof ReadableStream)) return source[Symbol.asyncIterator]();
  const reader = (source as ReadableStream<unknown>).getReader();
  return {
    next: () => reader.read() as Promise<IteratorResult<unknown>>,
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

async function pumpTexts(first: unknown, rest: AsyncIterator<unknown>, ctx: RunContext): Promise<void> {
  let piece = first;
  for (let count = 1; ; count += 1) {
    if (typeof piece !== "string") throw badOutput("streamed", piece);
    ctx.stream.text(piece);
    if (count % deltasPerTurn === 0) await nextTurnOfTheLoop();
    const next = await rest.next();
    throwIfAborted(ctx.signal);
    if (next.done) return;
    piece = next.value;
  }
}

/** The stream's chunks; one that reports an error or an abort fails the run, so that it is never called completed. */
async function* checkedChunks(
  first: UIChunk,
  rest: AsyncIterator<unknown>,
  signal: AbortSignal,
): AsyncGenerator<UIChunk> {
  let chunk: unknown = first;
  for (;;) {
    throwIfAborted(signal);
    if (!isChunk(chunk)) throw badOutput("streamed", chunk);
    if (chunk.type === "error" || chunk.type === "abort") throw streamFailed(chunk);
    yield chunk;
    const next = await rest.next();
    if (next.done) return;
    chunk = next.value;
  }
}

function streamFailed(chunk: UIChunk): WaybillError {
  // The chunk's own text may be anything; it goes to the log as the cause, not to people.
  const cause = new Error(typeof chunk.errorText === "string" ? chunk.errorText : chunk.type);
  return new WaybillError(
    "agent_failed",
    "The stream that the agent returned ended with an error.",
    {},
    cause,
  );
}

function isGenerator(value: unknown): value is AnyGenerator {
  const tag = Object.prototype.toString.call(value);
  return tag === "[object AsyncGenerator]" || tag === "[object Generator]";
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function isChunk(value: unknown): value is UIChunk {
  return (
    typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string"
  );
}

function hasText(value: unknown): value is { text: string; usage?: object; steps?: unknown } {
  return (
    typeof value === "object" && value !== null && typeof (value as { text?: unknown }).text === "string"
  );
}

function badOutput(verb: "yielded" | "returned" | "streamed", value: unknown): WaybillError {
  const what = describe(value);
  const way =
    verb === "returned"
      ? "Return a text, { text }, nothing, or an AI SDK stream"
      : "Yield strings (String(value) or JSON.stringify(value))";
  const message = `The agent ${verb} ${what}. ${way}; for data beside the text use ctx.stream.data(name, value).`;
  return new WaybillError("agent_bad_output", message, { verb, what });
}

/** What a value is, without its content, which may be private. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value !== "object") return `a ${typeof value}`;
  const name = (value as object).constructor?.name;
  if (name && name !== "Object") return `an object of class ${name}`;
  const fields = Object.keys(value);
  if (fields.length === 0) return "an empty object";
  const shown = fields.slice(0, 5).map((field) => `"${field.slice(0, 40)}"`);
  return `an object with the fields ${shown.join(", ")}${fields.length > 5 ? " and more" : ""}`;
}
