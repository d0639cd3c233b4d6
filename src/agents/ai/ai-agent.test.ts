import { isStepCount, tool, ToolLoopAgent } from "ai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { fakeContext } from "../../../test/support/fake-context.ts";
import { fakeProvider, type FakeProvider, type ProviderAnswer } from "../../../test/support/fake-provider.ts";
import { resolveModel } from "../model/resolve-model.ts";
import { aiAgent, type SdkAgent } from "./ai-agent.ts";

let provider: FakeProvider;

beforeEach(async () => {
  provider = await fakeProvider();
});
afterEach(() => provider.stop());

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
});
const callsWeather: ProviderAnswer = {
  toolCalls: [{ name: "weather", input: { city: "Seoul" } }],
  usage: { input: 10, output: 5 },
};

async function loopAgent() {
  const model = await resolveModel("local/fake-1", { baseUrl: provider.url, env: {} });
  return new ToolLoopAgent({
    model,
    instructions: "You know the weather.",
    tools: { weather },
    maxRetries: 0,
    stopWhen: isStepCount(5),
    onError: () => {},
  });
}

describe("a ToolLoopAgent", () => {
  test("is taken as it is: its instructions and tools, with the turn, its memory and its facts", async () => {
    provider.answer(callsWeather, { text: ["It is ", "sunny."], usage: { input: 20, output: 4 } });
    const fake = fakeContext({ text: "And in Seoul?" });
    await aiAgent(await loopAgent()).run(fake.ctx);
    expect(fake.deltas).toEqual(["It is ", "sunny."]);
    expect(fake.used).toEqual({ inputTokens: 30, outputTokens: 9, steps: 2 });
    const { messages } = provider.requests[0]!.body;
    expect(messages[0]).toMatchObject({ role: "system", content: "You know the weather." });
    expect(messages[1]!.content).toMatch(
      /from the ledger[^]*And in Seoul\?\n\nreply_to=web:default\/c1~signed$/,
    );
  });

  test("is held to the limits of the run", async () => {
    provider.fallback(callsWeather);
    const steps = fakeContext({ limits: { steps: 2 } });
    await expect(aiAgent(await loopAgent()).run(steps.ctx)).rejects.toMatchObject({ code: "step_limit" });
    expect(provider.requests).toHaveLength(2);
    const tokens = fakeContext({ limits: { tokens: 20 } });
    await expect(aiAgent(await loopAgent()).run(tokens.ctx)).rejects.toMatchObject({ code: "token_limit" });
    expect(provider.requests).toHaveLength(4);
  });

  test("has its errors mapped, and a cut stream fails the run", async () => {
    provider.answer({ status: 401, body: "sk-secret" });
    await expect(aiAgent(await loopAgent()).run(fakeContext().ctx)).rejects.toMatchObject({
      code: "provider_unauthorized",
      details: { provider: "local", model: "fake-1", status: 401 },
    });
    provider.answer({ cut: "socket", text: ["half"] });
    await expect(aiAgent(await loopAgent()).run(fakeContext().ctx)).rejects.toMatchObject({
      code: "provider_bad_answer",
    });
  });

  test("is aborted with the run", async () => {
    provider.answer({ hang: true });
    const fake = fakeContext();
    const running = aiAgent(await loopAgent()).run(fake.ctx);
    await provider.requested(1);
    fake.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
    await provider.left(1);
  });
});

test("an agent that knows none of the callbacks is metered by its stream", async () => {
  provider.fallback(callsWeather);
  const inner = await loopAgent();
  const plain: SdkAgent = {
    id: "plain",
    stream: ({ messages, abortSignal }: { messages: never; abortSignal: AbortSignal }) =>
      inner.stream({ messages, abortSignal }),
  };
  const fake = fakeContext({ limits: { tokens: 40 } });
  await expect(aiAgent(plain).run(fake.ctx)).rejects.toMatchObject({ code: "token_limit" });
  expect(fake.used).toMatchObject({ inputTokens: 30, outputTokens: 15, steps: 3 });
});

test("an agent that ignores its signal does not hold the run", async () => {
  const fake = fakeContext();
  const deaf: SdkAgent = { stream: () => new Promise<never>(() => {}) };
  const running = aiAgent(deaf).run(fake.ctx);
  fake.abort(new Error("stop"));
  await expect(running).rejects.toThrow("stop");
});

test("what is no agent is refused when it is made", () => {
  expect(() => aiAgent({} as never)).toThrow(expect.objectContaining({ code: "config_invalid" }));
});
