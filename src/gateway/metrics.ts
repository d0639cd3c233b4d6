import type { AgentHealth } from "../agents/agent.ts";
import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** The gateway's metrics, in a registry of their own so that two gateways in one process do not meet. */
export interface Metrics {
  accepted: Counter<"outcome">;
  denied: Counter;
  runsEnded: Counter<"state">;
  runWait: Histogram;
  deliveries: Counter<"state">;
  toolCalls: Counter<"tool" | "outcome">;
  render(): Promise<{ contentType: string; body: string }>;
}

export interface MetricSources {
  liveRuns(): number;
  streams(): { open: number; ended: number; bytes: number; readers: number };
  /** Of agents that keep processes, by name. */
  agents(): ReadonlyMap<string, AgentHealth>;
}

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge("waybill_runs_live", "Runs that this node executes now.", () => sources.liveRuns());
  gauge("waybill_streams_open", "Streams that are being written.", () => sources.streams().open);
  gauge("waybill_stream_bytes", "Bytes of streams kept in memory.", () => sources.streams().bytes);
  gauge("waybill_stream_readers", "Connected readers of streams.", () => sources.streams().readers);
  agentGauges(registry, sources.agents);
  gauge("waybill_memory_bytes", "Resident memory of the process.", () => process.memoryUsage.rss());
  return {
    accepted: new Counter({
      name: "waybill_messages_accepted_total",
      help: "Messages that were committed, by what came of them.",
      labelNames: ["outcome"],
      registers,
    }),
    denied: new Counter({
      name: "waybill_messages_denied_total",
      help: "Messages of senders not allowed.",
      registers,
    }),
    runsEnded: new Counter({
      name: "waybill_runs_ended_total",
      help: "Runs that ended, by state.",
      labelNames: ["state"],
      registers,
    }),
    runWait: new Histogram({
      name: "waybill_run_wait_seconds",
      help: "Time between the commit of a message and the start of its run.",
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60],
      registers,
    }),
    deliveries: new Counter({
      name: "waybill_deliveries_settled_total",
      help: "Attempts to deliver, by the state that the delivery had afterwards.",
      labelNames: ["state"],
      registers,
    }),
    toolCalls: new Counter({
      name: "waybill_tool_calls_total",
      help: "Calls of the tools' door, by what came of them: ok, or the code of the refusal.",
      labelNames: ["tool", "outcome"],
      registers,
    }),
    async render() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

const agentFigures: readonly [name: string, help: string, field: keyof AgentHealth][] = [
  ["waybill_agent_processes", "Processes that an agent keeps now.", "processes"],
  ["waybill_agent_turns", "Turns that an agent's processes work on now.", "turns"],
  ["waybill_agent_waiting", "Turns that wait for a free process.", "waiting"],
  ["waybill_agent_starts", "Processes that were started since the gateway's start.", "starts"],
  ["waybill_agent_crashes", "Processes that ended badly or could not be started.", "crashes"],
  ["waybill_agent_lines_dropped", "Lines of processes that belonged to no turn of theirs.", "dropped"],
];

/** One gauge for each figure, with a line for each agent that keeps processes. */
function agentGauges(registry: Registry, read: MetricSources["agents"]): void {
  for (const [name, help, field] of agentFigures) {
    new Gauge({
      name,
      help,
      labelNames: ["agent"],
      registers: [registry],
      collect() {
        for (const [agent, health] of read()) this.set({ agent }, health[field]);
      },
    });
  }
}
