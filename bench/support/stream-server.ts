import { setImmediate as nextTurn } from "node:timers/promises";
import { agent } from "../../src/agents/agent-factory.ts";
import { serve } from "../../src/http/serve.ts";
import { benchGateway } from "./gateway.ts";

/**
 * A gateway that serves HTTP, as a process of its own, driven by its parent: `start` begins runs whose agents emit
 * tokens as the order says, and answers with their streams; `go` lets the tokens flow; `rss` tells the memory.
 */
export interface StreamOrder {
  streams: number;
  tokens: number;
  /** Milliseconds between two tokens of one stream; 0: as fast as it goes. */
  everyMs: number;
  /** Background jobs that report progress every 100 ms beside it. */
  jobs: number;
}

let go: () => void = () => {};
const going = new Promise<void>((resolve) => {
  go = resolve;
});
let order: StreamOrder = { streams: 0, tokens: 0, everyMs: 0, jobs: 0 };

/** `performance.timeOrigin + now` is comparable between processes of one machine. */
const stamp = (): string => (performance.timeOrigin + performance.now()).toFixed(3);

const gateway = await benchGateway({
  agents: {
    tokens: agent.fn(async (ctx) => {
      await going;
      if (order.everyMs === 0) {
        for (let i = 0; i < order.tokens; i += 1) {
          ctx.stream.text(`${stamp()} `);
          // A real agent awaits its model between tokens; a few per turn of the loop is what a fast one yields.
          if (i % 8 === 7) await nextTurn();
        }
        return;
      }
      for (let i = 0; i < order.tokens; i += 1) {
        await new Promise<void>((resolve) => setTimeout(resolve, order.everyMs));
        ctx.stream.text(`${stamp()} `);
      }
    }),
    job: agent.fn(
      async (ctx) => {
        await going;
        for (let i = 0; i < (order.tokens * order.everyMs) / 100; i += 1) {
          await new Promise<void>((resolve) => setTimeout(resolve, 100));
          await ctx.progress(`step ${i}`);
        }
        return "done";
      },
      { background: true },
    ),
  },
  routes: [{ in: "web:main/job", agent: "job" }],
});
const server = await serve((request, env) => gateway.running.fetch(request, env), {
  host: "127.0.0.1",
  port: 0,
});

process.on("message", (message: { kind: string; order?: StreamOrder }) => {
  void (async () => {
    if (message.kind === "start" && message.order) {
      order = message.order;
      for (let i = 0; i < order.jobs; i += 1) await gateway.say("job", `job ${i}`);
      const accepted = await Promise.all(
        Array.from({ length: order.streams }, (_, i) => gateway.say(`s${i}`, "go")),
      );
      process.send?.({ kind: "started", streams: accepted.map((one) => one.stream) });
    }
    if (message.kind === "go") go();
    if (message.kind === "rss") process.send?.({ kind: "rss", bytes: process.memoryUsage.rss() });
  })();
});
process.send?.({ kind: "ready", url: server.url });
