import type { TextStreamPart, ToolSet } from "ai";
import type { RunContext, UIChunk } from "../agent.ts";
import { throwIfAborted } from "../race-abort.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { CallMeter, useTokens, type TokenCounts } from "./call-meter.ts";
import { mapProviderError } from "./map-provider-error.ts";

/**
 * The result of `streamText` or of an agent's `stream`, as far as it is used here. It is typed by its form and not by
 * the `ai` package, so that a result of another release of that package is taken too.
 */
export interface StreamResult {
  toUIMessageStream(options?: never): unknown;
  readonly stream?: unknown;
  readonly fullStream?: unknown;
  readonly usage?: unknown;
  readonly totalUsage?: unknown;
  readonly steps?: unknown;
}

export function isStreamResult(value: unknown): value is StreamResult {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { toUIMessageStream?: unknown }).toUIMessageStream === "function"
  );
}

type Part = TextStreamPart<ToolSet>;

/**
 * Merges a result into the run's stream and meters it. The parts `error` and `abort` are not passed on: an error is
 * kept by the meter and ends the merge, so that a run whose stream broke never counts as completed.
 * @throws what the meter kept, or a WaybillError `provider_*`.
 */
export async function mergeResult(ctx: RunContext, result: StreamResult, meter: CallMeter): Promise<void> {
  const parts = (result.stream ?? result.fullStream) as ReadableStream<Part> | undefined;
  if (!parts) return mergeOpaqueResult(ctx, result);
  const { toUIMessageStream } = await import("ai");
  // An agent's own code may have forgotten to hand its model call the signal: the pipe cancels it.
  const metered = parts.pipeThrough(meterParts(meter), { signal: ctx.signal });
  const chunks = toUIMessageStream({
    stream: metered,
    sendStart: false,
    sendFinish: false,
    sendSources: true,
  });
  await ctx.stream.merge(chunks as ReadableStream<UIChunk>);
  throwIfAborted(ctx.signal);
  if (meter.failure) throw meter.failure;
  checkEnd(meter);
  if (meter.last?.finishReason === "length") {
    ctx.log.warn(
      { run: ctx.run.id, model: meter.model },
      "The model stopped at its own limit of output tokens.",
    );
  }
}

/** As `mergeResult`, for a result that the agent's own code made: its model call is not ours to begin or abort. */
export async function mergeForeignResult(ctx: RunContext, result: StreamResult): Promise<void> {
  const meter = new CallMeter(ctx, () => {});
  try {
    await mergeResult(ctx, result, meter);
  } catch (thrown) {
    throwIfAborted(ctx.signal);
    throw meter.failure ?? (await mapProviderError(thrown, meter));
  }
}

function meterParts(meter: CallMeter): TransformStream<Part, Part> {
  let begun = 0;
  let ended = 0;
  return new TransformStream<Part, Part>({
    async transform(part, out) {
      if (part.type === "error") throw meter.fail(await mapProviderError(part.error, meter));
      if (part.type === "abort") return;
      if (part.type === "start-step") meter.begin(begun++);
      if (part.type === "text-delta" && part.text !== "") meter.wrote = true;
      if (part.type === "finish-step") meter.end(ended++, part);
      out.enqueue(part);
    },
  });
}

/** A result that shows its UI stream only; its usage is known at the end. */
async function mergeOpaqueResult(ctx: RunContext, result: StreamResult): Promise<void> {
  await ctx.stream.merge(failOnError(result.toUIMessageStream() as AsyncIterable<UIChunk>));
  throwIfAborted(ctx.signal);
  const usage = (await (result.totalUsage ?? result.usage)) as TokenCounts | undefined;
  if (usage) useTokens(ctx, usage, await result.steps);
}

async function* failOnError(chunks: AsyncIterable<UIChunk>): AsyncGenerator<UIChunk> {
  for await (const chunk of chunks) {
    if (chunk.type === "error") {
      throw new WaybillError("provider_failed", "The model's stream ended with an error.", {});
    }
    yield chunk;
  }
}

/** Was the last answer whole? @throws WaybillError `provider_bad_answer`. */
function checkEnd(meter: CallMeter): void {
  const { last } = meter;
  const details = { provider: meter.provider ?? null, model: meter.model ?? null };
  if (!last) throw new WaybillError("provider_bad_answer", "The model provider answered nothing.", details);
  // The AI SDK keeps what it has of a stream that ended without its finish; no provider ends like that on purpose.
  const unfinished = last.finishReason === "other" && last.rawFinishReason === undefined;
  const uncounted = last.usage.inputTokens === undefined && last.usage.outputTokens === undefined;
  if (last.finishReason === "error" || (unfinished && uncounted)) {
    throw new WaybillError(
      "provider_bad_answer",
      "The model provider's answer ended before it was complete.",
      details,
    );
  }
  if (last.finishReason === "content-filter" && !meter.wrote) {
    throw new WaybillError(
      "provider_bad_answer",
      "The model provider withheld its answer (content filter).",
      details,
    );
  }
}
