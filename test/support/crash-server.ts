/**
 * A gateway as a process of its own, which a test kills: it serves HTTP on a spare port of loopback, tells its parent
 * of every change, and with a plan kills itself at a named point. Started by crash-gateway.ts.
 */
import "./bundled-writer.ts";
import { appendFileSync } from "node:fs";
import { agent } from "../../src/agents/agent-factory.ts";
import { webhook } from "../../src/channels/webhook/index.ts";
import { RunningGateway } from "../../src/gateway/create-gateway.ts";
import type { WaybillConfig } from "../../src/gateway/settings.ts";
import { serve } from "../../src/http/serve.ts";
import { asWaybillError } from "../../src/kernel/errors.ts";
import type { RunContext } from "../../src/agents/agent.ts";
import type { CrashSettings, FromServer, ToServer } from "./crash-gateway.ts";

const settings = JSON.parse(process.argv[2] ?? "{}") as CrashSettings;

function tell(message: FromServer): void {
  if (process.connected) process.send?.(message);
}

/** Gates by name, at which agents wait until the parent opens them. */
const gates = new Map<string, PromiseWithResolvers<void>>();

function gate(name: string): PromiseWithResolvers<void> {
  const found = gates.get(name) ?? Promise.withResolvers<void>();
  gates.set(name, found);
  return found;
}

/** One line for each time that an agent's code really begins: what a person would call "it ran". */
function noteExecution(ctx: RunContext): void {
  const { id, agent: name, attempt } = ctx.run;
  appendFileSync(
    settings.executions,
    `${JSON.stringify({ run: id, agent: name, attempt, text: ctx.text })}\n`,
  );
}

async function* answer(ctx: RunContext): AsyncGenerator<string> {
  noteExecution(ctx);
  const [word, name = ""] = ctx.text.split(":");
  if (word === "job") await ctx.start("worker", `work ${name}`);
  yield "answer to ";
  if (word === "wait") {
    tell({ kind: "waiting", run: ctx.run.id, gate: name });
    await Promise.race([
      gate(name).promise,
      new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve())),
    ]);
  }
  yield ctx.text;
}

const config: WaybillConfig = {
  agents: {
    assistant: agent.fn(answer),
    repeater: agent.fn(answer, { recovery: "retry" }),
    worker: agent.fn((ctx) => {
      noteExecution(ctx);
      return `done: ${ctx.text}`;
    }),
  },
  routes: [{ in: `${settings.peer ? "webhook" : "web"}:main/repeat`, agent: "repeater" }],
  channels: settings.peer
    ? [webhook({ ...settings.peer, kind: "dm", allow: { senders: "*", conversations: "*" } })]
    : [],
  shutdown: { graceMs: settings.graceMs ?? 5_000 },
};

const gateway = new RunningGateway(config, {
  dataDir: settings.dataDir,
  databaseUrl: settings.databaseUrl,
  leaseMs: 60_000,
  retry: { firstMs: 20, mostMs: 100, attempts: 30, timeoutMs: 10_000 },
  ...(settings.crash ? { crash: settings.crash } : {}),
});

process.on("message", (message: ToServer) => gate(message.open).resolve());

const server = await serve((request, env) => gateway.fetch(request, env), { host: "127.0.0.1", port: 0 });
let stopping = false;
// A test that ended in whatever way leaves no server behind.
process.once("disconnect", () => {
  if (!stopping) process.exit(1);
});
process.once("SIGTERM", () => {
  stopping = true;
  tell({ kind: "stopping" });
  void gateway
    .stop()
    .then(() => server.close())
    .then(() => {
      if (process.connected) process.disconnect();
    });
});
try {
  await gateway.start();
} catch (error) {
  const { code, message } = asWaybillError(error);
  process.send?.({ kind: "refused", code, message } satisfies FromServer, () => process.exit(1));
  await new Promise(() => {}); // Nothing more until it has ended.
}
gateway.parts.feed.subscribe(null, () => tell({ kind: "changed" }));
tell({ kind: "ready", url: server.url, boot: gateway.parts.boot });
