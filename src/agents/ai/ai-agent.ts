import type { ModelMessage } from "ai";
import type { Agent, RunContext } from "../agent.ts";
import { describeAgent, invalid, type AgentOptions } from "../agent-options.ts";
import { buildMessages } from "../sdk/build-messages.ts";
import type { CallEnd, CallMeter } from "../sdk/call-meter.ts";
import { factsBlock } from "../sdk/facts-block.ts";
import type { StreamResult } from "../sdk/merge-result.ts";
import { streamAnswer, type OpenCall } from "../sdk/stream-answer.ts";

/**
 * An agent of the AI SDK 7, by its form: `ToolLoopAgent`, or anything that implements its `Agent` interface. What
 * `stream` takes is not typed here, because it depends on the agent's own call options.
 */
export interface SdkAgent {
  readonly id?: string | undefined;
  readonly tools?: object | undefined;
  stream(options: never): PromiseLike<StreamResult> | StreamResult;
}

export interface AiAgentOptions extends AgentOptions {
  /** The agent's own call options, passed to each `stream` as `options`. */
  callOptions?: unknown;
}

/** What is passed to the agent's `stream`; the callbacks are those of the AI SDK 7. */
interface CallParameters {
  messages: ModelMessage[];
  abortSignal: AbortSignal;
  options?: unknown;
  onStepStart(step: { stepNumber: number; provider: string; modelId: string }): void;
  onStepEnd(step: CallEnd & { stepNumber: number }): void;
}

/**
 * Takes an agent of the AI SDK as it is: its model, instructions, tools, stop condition and retries stay its own. It is
 * given the conversation's short memory and, before the turn's text, the ledger's facts about the place. Its output is
 * merged, metered, limited and its errors mapped as those of `agent.model`. It takes no follow-ups while it runs.
 *
 * A ToolLoopAgent without an `onError` of its own prints each error of a provider to the console, with what people
 * wrote; that is the AI SDK's default and not reached from here.
 * @throws WaybillError `config_invalid`.
 */
export function aiAgent(sdkAgent: SdkAgent, options: AiAgentOptions = {}): Agent {
  if (typeof sdkAgent?.stream !== "function") {
    throw invalid(
      "agent.ai: the first argument must be an agent of the AI SDK, such as new ToolLoopAgent(...).",
      {
        field: "agent",
      },
    );
  }
  const settings = { id: sdkAgent.id ?? null, tools: Object.keys(sdkAgent.tools ?? {}) };
  const description = describeAgent(
    { kind: "ai", ownOptions: ["callOptions"], steerable: false, models: [], settings },
    options,
  );
  return { ...description, run: (ctx) => runSdkAgent(ctx, sdkAgent, options.callOptions) };
}

async function runSdkAgent(ctx: RunContext, sdkAgent: SdkAgent, callOptions: unknown): Promise<void> {
  await streamAnswer(ctx, ({ signal, meter }: OpenCall) =>
    sdkAgent.stream(callParameters(ctx, signal, meter, callOptions) as never),
  );
}

function callParameters(
  ctx: RunContext,
  signal: AbortSignal,
  meter: CallMeter,
  options: unknown,
): CallParameters {
  return {
    messages: buildMessages(ctx, factsBlock(ctx)),
    abortSignal: signal,
    ...(options === undefined ? {} : { options }),
    // The AI SDK ignores what a callback throws; the meter has aborted the call by then.
    onStepStart(step) {
      meter.provider = step.provider.split(".", 1)[0];
      meter.model = step.modelId;
      meter.begin(step.stepNumber);
    },
    onStepEnd: (step) => meter.end(step.stepNumber, step),
  };
}
