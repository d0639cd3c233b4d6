import { WaybillError } from "../../kernel/errors.ts";
import type { Agent } from "../agent.ts";
import { describeAgent } from "../agent-options.ts";
import { processOptionNames, processSettings, type ProcessAgentOptions } from "./process-options.ts";
import { ProcessPool } from "./process-pool.ts";

/**
 * Makes an agent of a command: processes that speak lines of JSON on standard input and output (docs/protocol.md,
 * "Process agents"), pooled, and reused from one conversation to the next.
 *
 * A run fails with `agent_not_started`, `agent_crashed`, `agent_bad_output`, or as its process says. The processes of a
 * gateway are its own, and end with it.
 * @throws WaybillError `config_invalid`.
 */
export function processAgent(options: ProcessAgentOptions): Agent {
  const settings = processSettings(options);
  const description = describeAgent(
    { kind: "process", ownOptions: processOptionNames, steerable: false, models: [], settings },
    options,
  );
  return {
    ...description,
    run: () =>
      Promise.reject(
        new WaybillError("agent_not_started", "A process agent is run by a gateway, which opens it."),
      ),
    open(host) {
      const pool = new ProcessPool(settings, host);
      return { run: (ctx) => pool.run(ctx), stop: () => pool.stop(), health: () => pool.health() };
    },
  };
}
