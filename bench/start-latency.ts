import { agent } from "../src/agents/agent-factory.ts";
import { benchGateway, watchEnds } from "./support/gateway.ts";
import { atMost, quantile, report } from "./support/figures.ts";

/** On an idle gateway: from the call that accepts a message to the agent's first instruction. One message at a time. */
const MESSAGES = Number(process.env.MESSAGES ?? 600);
const WARM_UP = 50;

let began = 0;
const gateway = await benchGateway({
  agents: {
    first: agent.fn(() => {
      began = performance.now();
      return "ok";
    }),
  },
});
const ended = watchEnds(gateway);
const waits: number[] = [];
for (let i = 0; i < MESSAGES + WARM_UP; i += 1) {
  const from = performance.now();
  const accepted = await gateway.say(`c${i % 20}`, "hello");
  await ended(accepted.run ?? "");
  if (i >= WARM_UP) waits.push(began - from);
}
await gateway.stop();
report([
  atMost("idle accept to first instruction, p50", quantile(waits, 0.5), 3, "ms"),
  atMost("idle accept to first instruction, p99", quantile(waits, 0.99), 15, "ms"),
]);
process.exit(0);
