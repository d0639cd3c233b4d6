import type { RunContext } from "../agent.ts";
import { raceAbort, throwIfAborted } from "../race-abort.ts";
import { CallMeter } from "./call-meter.ts";
import { mapProviderError } from "./map-provider-error.ts";
import { mergeResult, type StreamResult } from "./merge-result.ts";

/** What the one who opens a model call is given. */
export interface OpenCall {
  /** Aborts with the run, and when a limit is passed or the answer is broken. */
  signal: AbortSignal;
  meter: CallMeter;
}

/**
 * Streams the answer of a model (`open` starts the call) into the run: merged, metered, limited, and with its errors
 * mapped. It ends as soon as the run is aborted or a limit is passed, even if a tool or a provider hangs.
 * @throws WaybillError `token_limit`, `step_limit`, `provider_*`; the signal's reason; or what the agent's code threw.
 */
export async function streamAnswer(
  ctx: RunContext,
  open: (call: OpenCall) => StreamResult | PromiseLike<StreamResult>,
): Promise<CallMeter> {
  throwIfAborted(ctx.signal);
  const own = new AbortController();
  const signal = AbortSignal.any([ctx.signal, own.signal]);
  const meter = new CallMeter(ctx, (reason) => own.abort(reason));
  const work = async () => mergeResult(ctx, await open({ signal, meter }), meter);
  try {
    await raceAbort(signal, work());
    return meter;
  } catch (thrown) {
    throwIfAborted(ctx.signal);
    const error = meter.failure ?? (await mapProviderError(thrown, meter));
    own.abort(error);
    throw error;
  }
}
