/** Every kind of agent gets the same context and is held to the same limits. */
import { MockLanguageModelV4 } from "ai/test";
import { stepCountIs, tool, ToolLoopAgent } from "ai";
import { afterEach, beforeEach, expect } from "vitest";
import { z } from "zod";
import { agent, type RunContext, type RunLimits } from "../../src/index.ts";
import { manualClock, recordingChannel } from "../../src/test-kit/index.ts";
import { type FakeProvider, fakeProvider } from "../support/fake-provider.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn } from "./support.ts";

let provider: FakeProvider;
beforeEach(async () => {
  provider = await fakeProvider();
});
afterEach(() => provider.stop());

const weather = tool({
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
});

function modelAgent(limits: RunLimits = {}) {
  return agent.model({
    model: "local/fake-1",
    baseUrl: provider.url,
    apiKey: "sk-not-a-real-key-at-all",
    instructions: "You are terse.",
    tools: { weather },
    maxRetries: 0,
    limits,
  });
}

function lastPrompt(): string {
  return JSON.stringify(provider.requests.at(-1)?.body.messages);
}

eachStore((store) => {
  scenario(
    ["AGNT-1"],
    "functions in every form answer with the same context: address, sender, history, facts, ids",
    async () => {
      const contexts: Pick<RunContext, "address" | "sender" | "history" | "facts" | "echo" | "run">[] = [];
      const note = ({ address, sender, history, facts, echo, run }: RunContext) => {
        contexts.push({ address, sender, history, facts, echo, run });
      };
      const agents = {
        plain: agent.fn((ctx) => (note(ctx), "plain text")),
        promised: agent.fn(async (ctx) => (note(ctx), { text: "promised text" })),
        generator: agent.fn(async function* (ctx) {
          note(ctx);
          yield "generated ";
          yield "text";
        }),
        returning: agent.fn(function* (ctx) {
          note(ctx);
          yield "yielded ";
          return "and returned";
        }),
        stream: agent.fn((ctx) => {
          note(ctx);
          return new ReadableStream<string>({
            start(controller) {
              controller.enqueue("streamed ");
              controller.enqueue("text");
              controller.close();
            },
          });
        }),
        writer: agent.fn((ctx) => {
          note(ctx);
          ctx.stream.text("written ");
          ctx.stream.text("text");
        }),
      };
      await using t = await gatewayOn(store, { agents });
      const texts: string[] = [];
      for (const name of Object.keys(agents)) {
        texts.push((await t.say(`hi ${name}`, { agent: name, sender: { id: "u1", name: "Ada" } })).text);
      }
      expect(texts).toEqual([
        "plain text",
        "promised text",
        "generated text",
        "yielded and returned",
        "streamed text",
        "written text",
      ]);
      for (const [n, ctx] of contexts.entries()) {
        expect(ctx).toMatchObject({
          address: "web:main/chat",
          sender: { id: "u1", name: "Ada", principal: null },
        });
        expect(ctx.history).toHaveLength(2 * n);
        expect(ctx.facts).toHaveLength(n);
        expect(ctx.echo.startsWith("web:main/chat;turn=turn_")).toBe(true);
        expect(ctx.run.id).toMatch(/^run_/);
      }
    },
  );

  scenario(
    ["AGNT-1"],
    "a model with tools streams, is given memory and facts, and its usage is stored",
    async () => {
      await using t = await gatewayOn(store, { agents: { model: modelAgent() } });
      provider.answer(
        { text: ["Hello ", "Ada."], usage: { input: 7, output: 3 } },
        { toolCalls: [{ name: "weather", input: { city: "Seoul" } }], usage: { input: 10, output: 5 } },
        { text: ["It is sunny."], usage: { input: 20, output: 4 } },
      );
      const first = await t.post("hi", { sender: "ada" });
      const stream = await t.stream(first.run ?? "");
      await stream.ended;
      expect(stream.deltas).toEqual(["Hello ", "Ada."]);
      const second = await t.say("weather in Seoul?", { sender: "ada" });
      expect(second.text).toBe("It is sunny.");
      expect(lastPrompt()).toContain("Hello Ada.");
      expect(lastPrompt()).toContain("sunny in Seoul");
      expect(lastPrompt()).toContain("reply_to=web:main/chat;turn=");
      expect((await t.run(second.run ?? "")).usage).toEqual({ inputTokens: 30, outputTokens: 9, steps: 2 });
    },
  );

  scenario(["AGNT-1"], "an agent of the AI SDK answers as it is, and knows no channel", async () => {
    const chat = recordingChannel({ kind: "chat" });
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: "stream-start", warnings: [] });
            controller.enqueue({ type: "text-start", id: "1" });
            controller.enqueue({ type: "text-delta", id: "1", delta: "from the " });
            controller.enqueue({ type: "text-delta", id: "1", delta: "SDK" });
            controller.enqueue({ type: "text-end", id: "1" });
            controller.enqueue({
              type: "finish",
              finishReason: { unified: "stop", raw: "stop" },
              usage: {
                inputTokens: { total: 5, noCache: 5, cacheRead: 0, cacheWrite: 0 },
                outputTokens: { total: 2, text: 2, reasoning: 0 },
              },
            });
            controller.close();
          },
        }),
      }),
    });
    const sdk = new ToolLoopAgent({ model, stopWhen: stepCountIs(3) });
    await using t = await gatewayOn(store, { agents: { sdk: agent.ai(sdk) }, channels: [chat] });
    const said = await t.say("hi", { address: "chat:test/room" });
    expect(said).toMatchObject({ state: "completed", text: "from the SDK" });
    expect(chat.posts().map(({ text }) => text)).toEqual(["from the SDK"]);
    expect((await t.run(said.run ?? "")).usage).toEqual({ inputTokens: 5, outputTokens: 2, steps: 1 });
  });

  scenario(
    ["AGNT-1", "SECU-2"],
    "a provider that fails is told without its words and without the key",
    async () => {
      await using t = await gatewayOn(store, { agents: { model: modelAgent() } });
      const failures = [
        {
          answer: { status: 401, body: "bad key sk-not-a-real-key-at-all" },
          reason: "provider_unauthorized",
        },
        { answer: { status: 429, retryAfter: "1" }, reason: "provider_rate_limited" },
        { answer: { status: 500, body: "Bearer sk-not-a-real-key-at-all" }, reason: "provider_failed" },
        { answer: { garbage: true, text: ["half"] }, reason: "provider_bad_answer" },
        { answer: { page: "<html>" }, reason: "provider_bad_answer" },
        { answer: { cut: "socket", text: ["half"] }, reason: "provider_bad_answer" },
      ] as const;
      for (const { answer, reason } of failures) {
        provider.answer({ ...answer, text: "text" in answer ? [...answer.text] : [] } as never);
        const said = await t.say("hi");
        expect({ reason, state: said.state, said: said.reason }).toEqual({
          reason,
          state: "failed",
          said: reason,
        });
        expect(said.posts).toHaveLength(1);
        expect(said.posts[0]?.notice).toBe("run.provider_failed");
      }
      expect((await t.say("and now?")).text).toBe("ok");
      const stored = JSON.stringify([await t.messages(), t.logs]);
      const events = await Promise.all((await t.runs()).map(({ id }) => t.events(id)));
      expect(stored + JSON.stringify(events)).not.toContain("sk-not-a-real-key-at-all");
    },
  );

  scenario(["AGNT-4"], "tokens and steps of a run are limited, and the person is told which", async () => {
    const spender = agent.fn(
      (ctx) => {
        ctx.use({ inputTokens: 60, outputTokens: 20, steps: 1 });
        if (ctx.text === "more") ctx.use({ outputTokens: 21 });
        if (ctx.text === "steps") for (let n = 0; n < 3; n += 1) ctx.use({ steps: 1 });
        return "within the limits";
      },
      { limits: { tokens: 100, steps: 3 } },
    );
    await using t = await gatewayOn(store, { agents: { spender } });
    expect((await t.say("hi")).text).toBe("within the limits");
    const tokens = await t.say("more");
    expect(tokens).toMatchObject({ state: "failed", reason: "token_limit" });
    expect(tokens.posts.map(({ notice, run }) => [notice, run])).toEqual([["run.limit_tokens", tokens.run]]);
    const steps = await t.say("steps");
    expect(steps).toMatchObject({ state: "failed", reason: "step_limit" });
    expect(steps.text).toContain("limit of model calls");
    expect((await t.run(tokens.run ?? "")).usage).toEqual({ inputTokens: 60, outputTokens: 41, steps: 1 });
  });

  scenario(["AGNT-4"], "a model's own use counts, and the call after the limit is not made", async () => {
    await using t = await gatewayOn(store, {
      agents: { model: modelAgent() },
      limits: { run: { tokens: 50 } },
    });
    provider.fallback({
      toolCalls: [{ name: "weather", input: { city: "Seoul" } }],
      usage: { input: 30, output: 5 },
    });
    const said = await t.say("loop");
    expect(said).toMatchObject({ state: "failed", reason: "token_limit" });
    expect(provider.requests).toHaveLength(2);
  });

  scenario(
    ["AGNT-4"],
    "time is limited by the gateway's settings, for messages, jobs and repeats alike",
    async () => {
      const clock = manualClock();
      const started = { message: gate(), job: gate(), again: gate() };
      const hang = agent.fn(async (ctx) => {
        if (ctx.text === "job") {
          await ctx.start("worker", "x");
          return "started";
        }
        (ctx.run.attempt === 1 && ctx.facts.length === 0 ? started.message : started.again).open();
        return new Promise<string>(() => {});
      });
      const worker = agent.fn(() => {
        started.job.open();
        return new Promise<string>(() => {});
      });
      const limits = { run: { wallMs: 60_000 } };
      await using t = await gatewayOn(store, { agents: { hang, worker }, limits }, { clock });

      const message = await t.post("hang", { conversation: "a" });
      await started.message.opened;
      clock.advance(59_999);
      expect(await t.run(message.run ?? "")).toMatchObject({ state: "running" });
      clock.advance(1);
      expect(await t.ended(message.run ?? "")).toMatchObject({
        state: "failed",
        reason: "deadline_exceeded",
      });
      expect((await t.posts("web:main/a")).map(({ notice }) => notice)).toEqual(["run.deadline"]);

      const again = await t.retry(message.run ?? "");
      await started.again.opened;
      clock.advance(60_000);
      expect(await t.ended(again.run ?? "")).toMatchObject({ state: "failed", reason: "deadline_exceeded" });

      await t.say("job", { conversation: "b" });
      await started.job.opened;
      clock.advance(60_000);
      const job = (await t.runs()).find((run) => run.agent === "worker");
      expect(await t.ended(job?.id ?? "")).toMatchObject({ state: "failed", reason: "deadline_exceeded" });
    },
  );

  scenario(["AGNT-4"], "daily caps of a sender and of an agent are counted apart, and said", async () => {
    const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);
    const ran: string[] = [];
    const other = agent.fn(async (ctx) => void ran.push(ctx.text));
    const daily = { perSender: { runs: 2 }, perAgent: { runs: 4 } };
    await using t = await gatewayOn(store, { agents: { echo, other }, limits: { daily } });
    const outcomes = async (sender: string, texts: string[]) => {
      const said = [];
      for (const text of texts) said.push(await t.say(text, { sender, id: `${sender}-${text}` }));
      return said.map(({ outcome, text }) => (outcome === "queued" ? text : outcome));
    };
    // A repetition costs nothing and is answered as before.
    expect(await outcomes("ada", ["1", "1", "2", "1"])).toEqual([
      "You said: 1",
      "You said: 1",
      "You said: 2",
      "You said: 1",
    ]);
    // What is refused counts for nobody: ada cannot use up the agent's day for the others.
    expect(await outcomes("ada", ["3", "4", "5", "6", "7"])).toEqual(Array(5).fill("replied"));
    expect(await outcomes("bob", ["1", "2", "3"])).toEqual(["You said: 1", "You said: 2", "replied"]);
    expect(await outcomes("eve", ["1"])).toEqual(["replied"]);
    const told = (await t.posts()).filter(({ notice }) => notice === "daily_cap");
    expect(told).toHaveLength(7);
    expect(told[0]?.text).toContain("limit for echo");
    // Words always work, and another agent has a day of its own.
    expect(await t.say("status", { sender: "ada" })).toMatchObject({ state: "replied", run: null });
    await t.say("hi", { sender: "eve", agent: "other" });
    expect(ran).toEqual(["hi"]);
  });

  scenario(
    ["AGNT-4"],
    "a job counts for the day as a message does, and the agent that asks is told",
    async () => {
      const codes: string[] = [];
      const boss = agent.fn(async (ctx) => {
        for (let n = 0; n < 3; n += 1) {
          await ctx.start("worker", `job ${n}`).catch((error: { code: string }) => codes.push(error.code));
        }
        return "started";
      });
      const worker = agent.fn((ctx) => `done: ${ctx.text}`);
      const limits = { daily: { perAgent: { runs: 2 } } };
      await using t = await gatewayOn(store, { agents: { boss, worker }, limits });
      const { address } = await t.say("go");
      await t.settled();
      expect(codes).toEqual(["daily_cap"]);
      const said = (await t.messages(address)).map((message) => message.text);
      expect(said.filter((text) => text.startsWith("done")).toSorted()).toEqual([
        "done: job 0",
        "done: job 1",
      ]);
    },
  );

  scenario(["AGNT-4"], "a sender's tokens of the day are counted over runs", async () => {
    const spender = agent.fn((ctx) => (ctx.use({ inputTokens: 40 }), "spent"));
    const limits = { daily: { perSender: { tokens: 100 } } };
    await using t = await gatewayOn(store, { agents: { spender }, limits });
    const outcomes = [];
    for (let n = 0; n < 4; n += 1) outcomes.push((await t.say("x", { sender: "ada" })).outcome);
    expect(outcomes).toEqual(["queued", "queued", "queued", "replied"]);
    expect((await t.say("x", { sender: "bob" })).outcome).toBe("queued");
  });

  scenario(["CHAN-4"], "files reach the agent as parts, and their names stay with the message", async () => {
    const seen: unknown[] = [];
    const viewer = agent.fn(async (ctx) => {
      seen.push(
        ctx.message.parts,
        ...ctx.history.filter(({ role }) => role === "user").map(({ parts }) => parts),
      );
      return "seen";
    });
    await using t = await gatewayOn(store, { agents: { viewer } });
    const picture = {
      type: "file",
      mediaType: "image/png",
      url: "data:image/png;base64,iVBORw0=",
      filename: "a.png",
    } as const;
    const parts = [{ type: "text", text: "look" } as const, picture];
    await t.say("look", { parts });
    await t.say("again");
    expect(seen).toEqual([parts, [{ type: "text", text: "again" }], parts]);
    expect((await t.messages())[0]?.parts).toEqual(parts);
  });

  scenario(["CHAN-4"], "what was left out is told with the reason, and the rest is answered", async () => {
    const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);
    const chat = recordingChannel({ kind: "chat" });
    await using t = await gatewayOn(store, { agents: { echo }, channels: [chat] });
    const leftOut = [
      { name: "film.mov", reason: "parts.reason.too_large" as const, values: { limit: "10 MB" } },
    ];
    const { turn } = await chat.receive("room", "look", { leftOut });
    await t.settled(turn);
    const texts = chat.posts("chat:test/room").map(({ text }) => text);
    expect(texts).toHaveLength(2);
    expect(texts[0]).toContain("film.mov");
    expect(texts[0]).toContain("10 MB");
    expect(texts[1]).toBe("You said: look");
  });

  scenario(["CHAN-4"], "an agent may finish without posting", async () => {
    const quiet = agent.fn((ctx) => {
      if (ctx.text === "later") return "not shown";
      ctx.silent();
      return "never shown";
    });
    const chat = recordingChannel({ kind: "chat" });
    await using t = await gatewayOn(store, { agents: { quiet }, channels: [chat] });
    for (const address of ["web:main/chat", "chat:test/room"]) {
      const said = await t.say("hi", { address });
      expect(said).toMatchObject({ state: "completed", text: "", posts: [] });
      expect(await t.deliveries({ turn: said.turn })).toEqual([]);
      expect(await t.run(said.run ?? "")).toMatchObject({ postedIn: null });
    }
    expect(chat.attempts).toEqual([]);
  });
});
