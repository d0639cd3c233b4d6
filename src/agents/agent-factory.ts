import { aiAgent } from "./ai/ai-agent.ts";
import { fnAgent } from "./function/function-agent.ts";
import { modelAgent } from "./model/model-agent.ts";
import { processAgent } from "./process/process-agent.ts";

/** The makers of agents: a function, a model with tools, an AI SDK agent as it is, and a pooled command. */
export const agent = { fn: fnAgent, model: modelAgent, ai: aiAgent, process: processAgent } as const;
