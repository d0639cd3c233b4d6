import { aiAgent } from "./ai/ai-agent.ts";
import { fnAgent } from "./function/function-agent.ts";
import { modelAgent } from "./model/model-agent.ts";

/** The makers of agents: a function, a model with tools, and an AI SDK agent as it is. */
export const agent = { fn: fnAgent, model: modelAgent, ai: aiAgent } as const;
