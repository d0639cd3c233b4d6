import { stepCountIs, ToolLoopAgent } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { agent, type Agent, type RunContext } from "../../src/index.ts";
import { asWaybillError } from "../../src/kernel/errors.ts";
import { fakeProvider, type FakeProvider } from "../support/fake-provider.ts";
import { makePuppets, type HeldTurn } from "../support/process-agents/puppets.ts";
import type { Act, AgentHarness } from "./agents.contract.ts";

export async function fnHarness(): Promise<AgentHarness> {
  const scripts = new Map<string, Act[]>();
  const told = Promise.withResolvers<void>();
  const refusals: string[] = [];
  let given = "";
  const perform = async (ctx: RunContext): Promise<void> => {
    const { text, history, facts, echo } = ctx;
    given = JSON.stringify({ text, history, facts, reply_to: echo });
    ctx.signal.addEventListener("abort", () => told.resolve());
    for (const act of scripts.get(text) ?? []) {
      if ("send" in act)
        await ctx.send(...act.send).catch((error) => refusals.push(asWaybillError(error).code));
      else await performFn(ctx, act);
    }
  };
  return {
    agent: (limits = { tokens: 1_000 }) => agent.fn(perform, { limits }),
    script: (text, ...acts) => void scripts.set(text, acts),
    given: () => given,
    told: () => told.promise,
    refusals,
    failure: "agent_failed",
    stop: async () => {},
  };
}

async function performFn(ctx: RunContext, act: Exclude<Act, { send: unknown }>): Promise<unknown> {
  if ("text" in act) return ctx.stream.text(act.text);
  if ("usage" in act) return ctx.use(act.usage);
  if ("hang" in act) return new Promise(() => {});
  if ("fail" in act) throw new Error(act.fail);
  if ("data" in act) return ctx.stream.data(...act.data);
  if ("say" in act) return ctx.say(act.say);
  if ("progress" in act) return ctx.progress(...act.progress);
  if ("start" in act) return ctx.start(...act.start);
  return ctx.silent();
}

/** A model behind HTTP: `make` gives the agent that calls it. */
async function providerHarness(
  make: (provider: FakeProvider, limits: { tokens: number }) => Agent,
): Promise<AgentHarness> {
  const provider = await fakeProvider();
  return {
    agent: (limits = { tokens: 1_000 }) => make(provider, limits),
    script(_text, ...acts) {
      const text = acts.flatMap((act) => ("text" in act ? [act.text] : []));
      const usage = acts.flatMap((act) => ("usage" in act ? [act.usage] : []))[0];
      if (acts.some((act) => "hang" in act)) return provider.answer({ hang: true, text });
      const failed = acts.find((act) => "fail" in act);
      if (failed) return provider.answer({ status: 500, body: failed.fail });
      const used = { input: usage?.inputTokens ?? 1, output: usage?.outputTokens ?? 1 };
      return provider.answer({ text, usage: used });
    },
    given: () => JSON.stringify(provider.requests.at(-1)?.body.messages),
    told: () => provider.left(1),
    refusals: [],
    failure: "provider_failed",
    stop: () => provider.stop(),
  };
}

export function modelHarness(): Promise<AgentHarness> {
  return providerHarness(({ url }, limits) =>
    agent.model({ model: "local/fake-1", baseUrl: url, apiKey: "none", maxRetries: 0, limits }),
  );
}

export function aiHarness(): Promise<AgentHarness> {
  return providerHarness(({ url }, limits) => {
    const local = createOpenAICompatible({ name: "local", baseURL: url, includeUsage: true });
    const sdk = new ToolLoopAgent({
      model: local("fake-1"),
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      onError: () => {},
    });
    return agent.ai(sdk, { limits });
  });
}

export async function processHarness(): Promise<AgentHarness> {
  const puppets = await makePuppets();
  const refusals: string[] = [];
  let latest: HeldTurn | null = null;
  const perform = async (text: string, acts: Act[]): Promise<void> => {
    const turn = await puppets.turn(text);
    latest = turn;
    for (const [n, act] of acts.entries()) {
      const line = lineOf(act);
      if (line === null) return;
      const asks = "say" in act || "send" in act || "progress" in act || "start" in act;
      turn.say({ ...line, ...(asks ? { id: n } : {}) });
      if (!asks) continue;
      const mine = (answer: Record<string, unknown>) => answer["turn"] === turn.id && answer["id"] === n;
      const answer = await puppets.until("an answer", () => turn.puppet.lines.find(mine));
      if (answer["type"] === "error") refusals.push(String(answer["code"]));
    }
    if (!acts.some((act) => "fail" in act)) turn.say({ type: "done" });
  };
  return {
    agent: (limits = { tokens: 1_000 }) => agent.process(puppets.options({ limits, pool: { max: 2 } })),
    script: (text, ...acts) => void perform(text, acts),
    given: () => JSON.stringify(latest?.line),
    told: () => puppets.until("a cancel", () => latest?.puppet.lines.find(({ type }) => type === "cancel")),
    refusals,
    failure: "agent_failed",
    stop: () => puppets[Symbol.asyncDispose](),
  };
}

/** The act as a line of a process; null: it does nothing more. */
function lineOf(act: Act): Record<string, unknown> | null {
  if ("text" in act) return { type: "text", text: act.text };
  if ("usage" in act) return { type: "usage", ...act.usage };
  if ("hang" in act) return null;
  if ("fail" in act) return { type: "error", message: act.fail };
  if ("data" in act) return { type: "data", name: act.data[0], value: act.data[1] };
  if ("say" in act) return { type: "say", text: act.say };
  if ("send" in act) return { type: "send", to: act.send[0], text: act.send[1] };
  if ("progress" in act) return { type: "progress", text: act.progress[0], percent: act.progress[1] };
  if ("start" in act) return { type: "start", agent: act.start[0], text: act.start[1] };
  return { type: "silent" };
}
