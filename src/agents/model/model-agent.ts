import type { LanguageModel, ModelMessage, ToolSet } from "ai";
import { WaybillError } from "../../kernel/errors.ts";
import type { Agent, RunContext } from "../agent.ts";
import { describeAgent, invalid, type AgentOptions } from "../agent-options.ts";
import { buildMessages, steeringMessage } from "../sdk/build-messages.ts";
import type { CallMeter } from "../sdk/call-meter.ts";
import { factsBlock } from "../sdk/facts-block.ts";
import { streamAnswer, type OpenCall } from "../sdk/stream-answer.ts";
import { parseModelSpec, resolveModel, type ModelSource } from "./resolve-model.ts";

type ModelObject = Exclude<LanguageModel, string>;

export interface ModelAgentOptions extends AgentOptions {
  /** A language model of the AI SDK, or `provider/model`, which is found when the agent first runs. */
  model: LanguageModel;
  /** What the agent is told it is and does. The ledger's facts about the place are added to it. */
  instructions?: string;
  tools?: ToolSet;
  /** Model calls in one run, at most. Default 20. */
  maxSteps?: number;
  /** How often a call that failed before it answered is made again (429, 5xx, no connection). Default 2. */
  maxRetries?: number;
  /** For a `provider/model`: an OpenAI-compatible server, with its version (`http://127.0.0.1:1234/v1`). */
  baseUrl?: string;
  /** For a `provider/model`: the key. Default: the provider's usual environment variable. */
  apiKey?: string;
}

const ownOptions = ["model", "instructions", "tools", "maxSteps", "maxRetries", "baseUrl", "apiKey"];

/**
 * Makes an agent of a model: `streamText` of the AI SDK 7 with the conversation's short memory, the ledger's facts and
 * the tools. It takes follow-ups while it runs (before each model call).
 *
 * A run fails with `token_limit`, `step_limit`, `provider_unauthorized`, `provider_rate_limited`, `provider_failed` or
 * `provider_bad_answer`; a stream that is cut never counts as an answer.
 * @throws WaybillError `config_invalid`.
 */
export function modelAgent(options: ModelAgentOptions): Agent {
  checkModelOptions(options);
  const { model, instructions, tools, maxSteps = 20, maxRetries = 2, baseUrl } = options;
  const id = typeof model === "string" ? model : `${providerOf(model)}/${model.modelId}`;
  const settings = { instructions, tools: Object.keys(tools ?? {}), maxSteps, maxRetries, baseUrl };
  const description = describeAgent(
    { kind: "model", ownOptions, steerable: true, models: [id], settings },
    options,
  );
  const find = modelFinder(model, { baseUrl, apiKey: options.apiKey });
  return { ...description, run: (ctx) => runModel(ctx, { find, instructions, tools, maxSteps, maxRetries }) };
}

interface ModelRun {
  find: () => Promise<ModelObject>;
  instructions: string | undefined;
  tools: ToolSet | undefined;
  maxSteps: number;
  maxRetries: number;
}

async function runModel(ctx: RunContext, setup: ModelRun): Promise<void> {
  const model = await setup.find();
  const meter = await streamAnswer(ctx, async (call) => {
    call.meter.provider = providerOf(model);
    call.meter.model = model.modelId;
    return openModel(ctx, setup, model, call);
  });
  checkSteps(meter, setup.maxSteps);
}

async function openModel(ctx: RunContext, setup: ModelRun, model: ModelObject, call: OpenCall) {
  const { isStepCount, streamText } = await import("ai");
  return streamText({
    model,
    instructions: [setup.instructions ?? "", factsBlock(ctx)].filter((text) => text !== "").join("\n\n"),
    messages: buildMessages(ctx),
    ...(setup.tools ? { tools: setup.tools } : {}),
    maxRetries: setup.maxRetries,
    stopWhen: isStepCount(setup.maxSteps),
    abortSignal: call.signal,
    prepareStep: ({ stepNumber, messages }) => {
      call.meter.begin(stepNumber);
      return steered(ctx, messages);
    },
    onStepEnd: (step) => call.meter.end(step.stepNumber, step),
    // Errors come as parts of the stream and are mapped there; the AI SDK would print them with what people wrote.
    onError: () => {},
  });
}

/** The messages of the next model call with what the person has said meanwhile; they stay for the calls after it. */
async function steered(ctx: RunContext, messages: ModelMessage[]) {
  const taken = await ctx.takeSteering();
  return taken.length === 0 ? undefined : { messages: [...messages, ...taken.map(steeringMessage)] };
}

/** A run that used all its steps and still wanted a tool has no answer; that is said, not hidden. */
function checkSteps(meter: CallMeter, maxSteps: number): void {
  if (meter.steps < maxSteps || meter.last?.finishReason !== "tool-calls") return;
  throw new WaybillError("step_limit", `The model still called tools after ${maxSteps} steps (maxSteps).`, {
    limit: maxSteps,
    used: meter.steps,
  });
}

function modelFinder(model: LanguageModel, source: ModelSource): () => Promise<ModelObject> {
  if (typeof model !== "string") return () => Promise.resolve(model);
  parseModelSpec(model);
  let found: Promise<ModelObject> | undefined;
  return () => {
    // A failure is not kept: the package may be installed, or the key set, before the next run.
    found ??= resolveModel(model, source).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

/** The provider's name; the AI SDK adds the kind of its interface (`openai.chat`). */
function providerOf(model: ModelObject): string {
  return model.provider.split(".", 1)[0]!;
}

function checkModelOptions(options: ModelAgentOptions): void {
  const model: unknown = options?.model;
  const isModel = typeof model === "object" && model !== null && "doStream" in model;
  if (!isModel && typeof model !== "string") {
    throw invalid(
      'agent.model: model must be a language model of the AI SDK, or a text such as "openai/gpt-5".',
      {
        field: "model",
      },
    );
  }
  if (options.instructions !== undefined && typeof options.instructions !== "string") {
    throw invalid("agent.model: instructions must be a text.", { field: "instructions" });
  }
  for (const [field, least] of [
    ["maxSteps", 1],
    ["maxRetries", 0],
  ] as const) {
    const value = options[field];
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
      throw invalid(`agent.model: ${field} must be a whole number of at least ${least}.`, { field });
    }
  }
}
