/** A gateway as a process of its own, whose agents do what their messages say. Started by address-world. */
import "../bundled-writer.ts";
import { agent } from "../../../src/agents/agent-factory.ts";
import type { RunContext } from "../../../src/agents/agent.ts";
import { webhook } from "../../../src/channels/webhook/index.ts";
import { RunningGateway } from "../../../src/gateway/create-gateway.ts";
import { serve } from "../../../src/http/serve.ts";
import { asWaybillError } from "../../../src/kernel/errors.ts";
import { isTerminal } from "../../../src/ledger/run.ts";
import type { FromServer, Plan, ServerSettings, ToServer } from "./wire.ts";

const settings = JSON.parse(process.argv[2] ?? "{}") as ServerSettings;

const tell = (message: FromServer): void => void (process.connected && process.send?.(message));

const gates = new Map<string, PromiseWithResolvers<void>>();

function gate(name: string): PromiseWithResolvers<void> {
  const found = gates.get(name) ?? Promise.withResolvers<void>();
  gates.set(name, found);
  return found;
}

async function act(ctx: RunContext, plan: Plan): Promise<string[]> {
  const refusals: string[] = [];
  for (const [n, one] of plan.acts.entries()) {
    const text = `${plan.nonce} ${one.do} ${n}`;
    try {
      if (one.do === "say") await ctx.say(text);
      else await ctx.send(one.do === "send" ? one.to : undefined, text);
    } catch (thrown) {
      refusals.push(asWaybillError(thrown).code);
    }
  }
  return refusals;
}

const actor = agent.fn(async (ctx) => {
  const plan = JSON.parse(ctx.text) as Plan;
  const refusals = await act(ctx, plan);
  const { token } = await ctx.grant(`pool:${plan.holder}`);
  tell({ kind: "acted", nonce: plan.nonce, run: ctx.run.id, echo: ctx.echo, token, refusals });
  if (plan.hold) {
    const aborted = new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
    await Promise.race([gate(plan.nonce).promise, aborted]);
  }
  ctx.signal.throwIfAborted();
  return `${plan.nonce} answer`;
});

const { url, secret } = settings.platform;
const gateway = new RunningGateway(
  {
    agents: { actor },
    channels: settings.accounts.map((account) =>
      webhook({ account, url: `${url}/${account}`, secret, allow: { senders: "*", conversations: "*" } }),
    ),
    memory: settings.memory,
    memoryWindow: 5,
    crossPost: settings.crossPost,
    // The trap: whoever asks these slots inside a turn posts where somebody spoke last.
    lastActive: true,
    shutdown: { graceMs: 0 },
  },
  {
    dataDir: settings.dataDir,
    databaseUrl: settings.databaseUrl,
    leaseMs: 60_000,
    retry: { firstMs: 20, mostMs: 100, attempts: 30, timeoutMs: 10_000 },
  },
);

process.on("message", ({ open }: ToServer) => gate(open).resolve());
const server = await serve((request, env) => gateway.fetch(request, env), { host: "127.0.0.1", port: 0 });
let stopping = false;
// A test that ended in whatever way leaves no server behind.
process.once("disconnect", () => {
  if (!stopping) process.exit(1);
});
process.once("SIGTERM", () => {
  stopping = true;
  void gateway
    .stop()
    .then(() => server.close())
    .then(() => process.disconnect());
});
await gateway.start();
gateway.parts.feed.subscribe(null, (hint) => {
  if (hint.kind === "run" && isTerminal(hint.state))
    tell({ kind: "ended", run: hint.run, state: hint.state });
});
tell({ kind: "ready", url: server.url });
