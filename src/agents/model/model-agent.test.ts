import { tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { fakeContext, type FakeContextOptions } from "../../../test/support/fake-context.ts";
import { fakeProvider, type FakeProvider, type ProviderAnswer } from "../../../test/support/fake-provider.ts";
import { modelAgent, type ModelAgentOptions } from "./model-agent.ts";

let provider: FakeProvider;

beforeEach(async () => {
  provider = await fakeProvider();
});
afterEach(() => provider.stop());

function agentOf(options: Partial<ModelAgentOptions> = {}) {
  return modelAgent({
    model: "local/fake-1",
    baseUrl: provider.url,
    apiKey: "sk-secret",
    maxRetries: 0,
    ...options,
  });
}

async function answered(
  answers: ProviderAnswer[],
  context: FakeContextOptions = {},
  options: Partial<ModelAgentOptions> = {},
) {
  provider.answer(...answers);
  const fake = fakeContext(context);
  await agentOf(options).run(fake.ctx);
  return fake;
}

const weather = tool({
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
});
const callsWeather: ProviderAnswer = {
  toolCalls: [{ name: "weather", input: { city: "Seoul" } }],
  usage: { input: 10, output: 5 },
};

describe("streaming", () => {
  test("each delta of the provider is one delta of the run, and its usage counts", async () => {
    const fake = await answered([{ text: ["One ", "two ", "three"], usage: { input: 7, output: 3 } }]);
    expect(fake.deltas).toEqual(["One ", "two ", "three"]);
    expect(fake.used).toEqual({ inputTokens: 7, outputTokens: 3, steps: 1 });
    const types = fake.chunks.map((chunk) => chunk.type);
    expect(types).not.toContain("start");
    expect(types).not.toContain("finish");
  });

  test("deltas reach the run while the provider is still answering", async () => {
    provider.answer({ hang: true, text: ["a", "b"] });
    const fake = fakeContext();
    const running = agentOf().run(fake.ctx);
    await fake.delta(2);
    fake.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
  });

  test("the key and the model's name reach the provider, and usage is asked for", async () => {
    await answered([{ text: ["ok"] }]);
    expect(provider.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      authorization: "Bearer sk-secret",
      body: { model: "fake-1", stream_options: { include_usage: true } },
    });
  });
});

describe("tools", () => {
  test("a tool is called, and the model is given its result", async () => {
    const fake = await answered(
      [callsWeather, { text: ["It is sunny."], usage: { input: 20, output: 4 } }],
      {},
      { tools: { weather } },
    );
    expect(fake.deltas).toEqual(["It is sunny."]);
    expect(fake.used).toEqual({ inputTokens: 30, outputTokens: 9, steps: 2 });
    expect(provider.requests[1]!.body.messages.at(-1)).toMatchObject({
      role: "tool",
      content: "sunny in Seoul",
    });
    expect(fake.chunks).toContainEqual(
      expect.objectContaining({ type: "tool-output-available", output: "sunny in Seoul" }),
    );
  });

  test("a tool that fails is told to the model, and the run goes on", async () => {
    const broken = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async (): Promise<string> => {
        throw new Error("no net");
      },
    });
    const fake = await answered([callsWeather, { text: ["sorry"] }], {}, { tools: { weather: broken } });
    expect(fake.deltas).toEqual(["sorry"]);
    expect(provider.requests[1]!.body.messages.at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining("no net"),
    });
  });

  test("a tool is given a signal that aborts with the run, and one that hangs does not hold it", async () => {
    provider.answer(callsWeather);
    const called = Promise.withResolvers<AbortSignal>();
    const hanging = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: (_input, { abortSignal }) => {
        called.resolve(abortSignal!);
        return new Promise<string>(() => {});
      },
    });
    const fake = fakeContext();
    const running = agentOf({ tools: { weather: hanging } }).run(fake.ctx);
    const signal = await called.promise;
    fake.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
    expect(signal.aborted).toBe(true);
  });
});

describe("limits", () => {
  test("a step limit is reached before the call that would pass it", async () => {
    provider.fallback(callsWeather);
    const fake = fakeContext({ limits: { steps: 2 } });
    await expect(agentOf({ tools: { weather } }).run(fake.ctx)).rejects.toMatchObject({ code: "step_limit" });
    expect(provider.requests).toHaveLength(2);
  });

  test("a token limit ends the run after the call that passed it", async () => {
    provider.fallback(callsWeather);
    const fake = fakeContext({ limits: { tokens: 20 } });
    await expect(agentOf({ tools: { weather } }).run(fake.ctx)).rejects.toMatchObject({
      code: "token_limit",
      details: { limit: 20, used: 30 },
    });
    expect(provider.requests).toHaveLength(2);
  });

  test("a token limit that the last call passes ends the run too", async () => {
    provider.answer({ text: ["long"], usage: { input: 30, output: 1 } });
    const fake = fakeContext({ limits: { tokens: 20 } });
    await expect(agentOf().run(fake.ctx)).rejects.toMatchObject({ code: "token_limit" });
  });

  test("a model that still calls tools after maxSteps has no answer, and that is said", async () => {
    provider.fallback(callsWeather);
    const fake = fakeContext();
    const running = agentOf({ tools: { weather }, maxSteps: 3 }).run(fake.ctx);
    await expect(running).rejects.toMatchObject({ code: "step_limit", details: { limit: 3, used: 3 } });
    expect(provider.requests).toHaveLength(3);
  });
});

describe("abort", () => {
  test("a provider that hangs is left at once", async () => {
    provider.answer({ hang: true });
    const fake = fakeContext();
    const running = agentOf().run(fake.ctx);
    await provider.requested(1);
    fake.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
    await provider.left(1);
  });

  test("a run that is aborted before it began calls nobody", async () => {
    const fake = fakeContext();
    fake.abort(new Error("stop"));
    await expect(agentOf().run(fake.ctx)).rejects.toThrow("stop");
    expect(provider.requests).toHaveLength(0);
  });
});

test("a follow-up is given to the next model call and the calls after it, once", async () => {
  const fake = await answered(
    [callsWeather, callsWeather, { text: ["done"] }],
    { steering: [[], [{ id: "msg_2", text: "in Fahrenheit", parts: [] }]] },
    { tools: { weather } },
  );
  expect(fake.deltas).toEqual(["done"]);
  const times = provider.requests.map(
    ({ body }) => body.messages.filter((message) => message.content === "in Fahrenheit").length,
  );
  expect(times).toEqual([0, 1, 1]);
});

describe("errors of the provider", () => {
  const secret = "the key sk-secret is wrong";
  const cases: [string, ProviderAnswer, object, RegExp][] = [
    [
      "401",
      { status: 401, body: secret },
      { code: "provider_unauthorized", details: { status: 401 } },
      /HTTP 401/,
    ],
    [
      "403",
      { status: 403, body: secret },
      { code: "provider_unauthorized", details: { status: 403 } },
      /HTTP 403/,
    ],
    [
      "429",
      { status: 429, body: secret },
      { code: "provider_rate_limited", details: { status: 429 } },
      /HTTP 429/,
    ],
    [
      "429 with Retry-After",
      { status: 429, retryAfter: "7" },
      { code: "provider_rate_limited", details: { retryAfterMs: 7000 } },
      /wait 7 s/,
    ],
    [
      "429 with a date",
      { status: 429, retryAfter: "Tue, 01 Dec 2026 10:00:00 GMT" },
      { code: "provider_rate_limited", details: { retryAt: "2026-12-01T10:00:00.000Z" } },
      /wait until 2026-12-01/,
    ],
    ["500", { status: 500, body: secret }, { code: "provider_failed", details: { status: 500 } }, /HTTP 500/],
    [
      "404",
      { status: 404, body: secret },
      { code: "provider_failed", details: { status: 404 } },
      /does not know/,
    ],
    ["garbage", { garbage: true }, { code: "provider_bad_answer" }, /cannot be read/],
    ["garbage after text", { garbage: true, text: ["a"] }, { code: "provider_bad_answer" }, /cannot be read/],
    ["a page", { page: `<html>${secret}</html>` }, { code: "provider_bad_answer" }, /cannot be read/],
    [
      "a cut connection",
      { cut: "socket", text: ["a", "b"] },
      { code: "provider_bad_answer" },
      /cut the connection/,
    ],
    [
      "a cut at the start",
      { cut: "socket", text: [] },
      { code: "provider_bad_answer" },
      /cut the connection/,
    ],
    ["an end without a finish", { cut: "end", text: ["a"] }, { code: "provider_bad_answer" }, /./],
    ["an empty answer", { cut: "end", text: [] }, { code: "provider_bad_answer" }, /./],
    [
      "an answer that is withheld",
      { text: [], reason: "content_filter" },
      { code: "provider_bad_answer" },
      /content filter/,
    ],
    ["an error in the stream", { streamError: secret, text: ["a"] }, { code: "provider_failed" }, /./],
  ];
  test.each(cases)("%s", async (_name, answer, expected, message) => {
    const error = await answered([answer]).then(
      () => null,
      (thrown: unknown) => thrown as Error & { details: object },
    );
    const { details, ...rest } = expected as { code: string; details?: object };
    expect(error).toMatchObject({ ...rest, message: expect.stringMatching(message) });
    expect(error!.details).toMatchObject({ provider: "local", model: "fake-1", ...details });
    expect(error!.message).toMatch(/^The model provider/);
    // Nothing of the key or of the provider's body, in the error or under it.
    expect(JSON.stringify(error) + String(error!.stack) + String(error!.cause)).not.toContain("sk-secret");
  });

  test("a server that is not there", async () => {
    await provider.stop();
    await expect(answered([])).rejects.toMatchObject({
      code: "provider_failed",
      message: expect.stringContaining("could not be reached"),
    });
  });

  test("an error is not printed, with what people wrote in it", async () => {
    const printed: unknown[] = [];
    const real = console.error;
    console.error = (...values: unknown[]) => void printed.push(values);
    try {
      await expect(answered([{ status: 401, body: secret }])).rejects.toThrow(/HTTP 401/);
    } finally {
      console.error = real;
    }
    expect(printed).toEqual([]);
  });

  test("a call that failed before it answered is made again, as often as maxRetries says", async () => {
    const answers: ProviderAnswer[] = [{ status: 500, retryAfter: "0" }, { text: ["ok"] }];
    expect((await answered(answers, {}, { maxRetries: 1 })).deltas).toEqual(["ok"]);
    provider.fallback({ status: 500, retryAfter: "0" });
    await expect(answered([], {}, { maxRetries: 1 })).rejects.toMatchObject({ code: "provider_failed" });
    expect(provider.requests).toHaveLength(4);
  });
});

describe("a model object of the AI SDK", () => {
  test("whose stream ends without its finish has not answered", async () => {
    const model = new MockLanguageModelV4({
      provider: "mock.chat",
      modelId: "m1",
      doStream: async () => ({
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: "text-start", id: "1" });
            controller.enqueue({ type: "text-delta", id: "1", delta: "half" });
            controller.close();
          },
        }),
      }),
    });
    const fake = fakeContext();
    await expect(modelAgent({ model }).run(fake.ctx)).rejects.toMatchObject({
      code: "provider_bad_answer",
      details: { provider: "mock", model: "m1" },
    });
    expect(fake.deltas).toEqual(["half"]);
  });

  test("is named in the description, and an error of its own code stays what it is", async () => {
    const error = new Error("mine");
    const model = new MockLanguageModelV4({
      provider: "mock.chat",
      modelId: "m1",
      doStream: () => Promise.reject(error),
    });
    const made = modelAgent({ model, maxRetries: 0 });
    expect(made).toMatchObject({ kind: "model", steerable: true, models: ["mock/m1"] });
    await expect(made.run(fakeContext().ctx)).rejects.toBe(error);
  });
});

test("what cannot be a model agent is refused when it is made", () => {
  const refused = (options: object, message: RegExp) =>
    expect(() => modelAgent(options as never)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message) }),
    );
  refused({}, /model must be a language model/);
  refused({ model: "gpt-5" }, /not of the form provider\/model/);
  refused({ model: "a/b", maxSteps: 0 }, /maxSteps must be a whole number of at least 1/);
  refused({ model: "a/b", instruction: "x" }, /Did you mean "instructions"/);
  refused({ model: "a/b", instructions: 5 }, /instructions must be a text/);
});
