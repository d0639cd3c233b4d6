export { agent } from "./agents/agent-factory.ts";
export type {
  Agent,
  AgentInput,
  HistoryItem,
  JsonValue,
  MessagePart,
  RecoveryPolicy,
  RunContext,
  RunFact,
  RunLimits,
  RunState,
  Sender,
} from "./agents/agent.ts";
export { createGateway, type Gateway } from "./gateway/create-gateway.ts";
export type { GatewayOptions } from "./gateway/options.ts";
export { defineConfig, type LimitSettings, type WaybillConfig } from "./gateway/settings.ts";
