import fc from "fast-check";
import { simulateReadableStream, streamText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import { fakeContext } from "../../../test/support/fake-context.ts";
import { fnAgent, type AgentFunction } from "./function-agent.ts";

async function run(f: AgentFunction) {
  const fake = fakeContext();
  await fnAgent(f).run(fake.ctx);
  return fake;
}

function usage(input: number, output: number) {
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

function mockModel(texts: string[], last: "finish" | "error" = "finish") {
  return new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        initialDelayInMs: null,
        chunkDelayInMs: null,
        chunks: [
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "1" },
          ...texts.map((delta) => ({ type: "text-delta", id: "1", delta }) as const),
          ...(last === "error"
            ? [{ type: "error", error: { message: "broke with sk-secret" } } as const]
            : [
                { type: "text-end", id: "1" } as const,
                {
                  type: "finish",
                  finishReason: { unified: "stop", raw: "stop" },
                  usage: usage(3, 4),
                } as const,
              ]),
        ],
      }),
    }),
  });
}

describe("what a function may give", () => {
  test("a text that is returned is one delta", async () => {
    expect((await run(async () => "hi")).deltas).toEqual(["hi"]);
    expect((await run(() => "hi")).deltas).toEqual(["hi"]);
  });

  test("nothing, and an empty text, are no delta", async () => {
    expect((await run(async () => {})).deltas).toEqual([]);
    expect((await run(() => null)).deltas).toEqual([]);
    expect((await run(() => "")).deltas).toEqual([]);
  });

  test("an object with a text", async () => {
    expect((await run(async () => ({ text: "hi" }))).deltas).toEqual(["hi"]);
  });

  test("each yield is exactly one delta, and the text is kept, whatever the texts are", async () => {
    const texts = fc.array(fc.string({ unit: "binary" }), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(texts, fc.boolean(), async (yields, sync) => {
        const fake = await run(
          sync
            ? function* () {
                yield* yields;
              }
            : async function* () {
                yield* yields;
              },
        );
        expect(fake.deltas).toEqual(yields);
      }),
    );
  });

  test("what a generator returns is added as text", async () => {
    const fake = await run(async function* () {
      yield "a";
      return "b";
    });
    expect(fake.deltas).toEqual(["a", "b"]);
  });

  test("the result of streamText is merged, and its usage counts", async () => {
    const fake = await run(() => streamText({ model: mockModel(["one ", "two"]), prompt: "x" }));
    expect(fake.deltas).toEqual(["one ", "two"]);
    expect(fake.used).toEqual({ inputTokens: 3, outputTokens: 4, steps: 1 });
    expect(fake.chunks.map((chunk) => chunk.type)).not.toContain("start");
  });

  test("a result that shows only its UI stream is merged, and its usage counts", async () => {
    const fake = await run(() => {
      const result = streamText({ model: mockModel(["one"]), prompt: "x" });
      return {
        toUIMessageStream: () => result.toUIMessageStream(),
        totalUsage: result.usage,
        steps: result.steps,
      };
    });
    expect(fake.deltas).toEqual(["one"]);
    expect(fake.used).toEqual({ inputTokens: 3, outputTokens: 4, steps: 1 });
  });

  test("a UI stream and a stream of texts are both taken", async () => {
    const ui = await run(() => streamText({ model: mockModel(["a", "b"]), prompt: "x" }).toUIMessageStream());
    expect(ui.deltas).toEqual(["a", "b"]);
    const texts = await run(() => streamText({ model: mockModel(["a", "b"]), prompt: "x" }).textStream);
    expect(texts.deltas).toEqual(["a", "b"]);
  });
});

describe("what is refused", () => {
  const cases: [string, unknown, RegExp][] = [
    ["a number", 42, /yielded a number\. Yield strings.*ctx\.stream\.data/],
    ["null", null, /yielded null\./],
    ["undefined", undefined, /yielded undefined\./],
    [
      "an object, by the names of its fields only",
      { a: "secret", b: 2 },
      /yielded an object with the fields "a", "b"\./,
    ],
    ["an array", ["x"], /yielded an array of 1\./],
    ["bytes", new Uint8Array(2), /yielded an object of class Uint8Array\./],
  ];
  test.each(cases)("yielding %s", async (_name, value, message) => {
    const fake = fakeContext();
    let closed = false;
    const f = async function* () {
      try {
        yield "before";
        yield value as string;
        yield "after";
      } finally {
        closed = true;
      }
    };
    const failed = fnAgent(f).run(fake.ctx);
    await expect(failed).rejects.toMatchObject({
      code: "agent_bad_output",
      message: expect.stringMatching(message),
    });
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining("secret") });
    expect(fake.deltas).toEqual(["before"]);
    expect(closed).toBe(true);
  });

  test.each([[42], [{}], [{ text: 1 }], [["a"]], [true]])("returning %j", async (value) => {
    await expect(run(() => value as never)).rejects.toMatchObject({ code: "agent_bad_output" });
  });

  test("something that is no function, and an option that does not exist", () => {
    expect(() => fnAgent(null as never)).toThrow(expect.objectContaining({ code: "config_invalid" }));
    expect(() => fnAgent(() => "", { backgruond: true } as never)).toThrow(/Did you mean "background"\?/);
    expect(() => fnAgent(() => "", { limits: { tokens: 0 } })).toThrow(
      /limits\.tokens must be a whole number above 0/,
    );
    expect(() => fnAgent(() => "", { recovery: "again" as never })).toThrow(/notify, retry, resume/);
  });
});

describe("when it fails", () => {
  test("what the function throws is what the run rejects with", async () => {
    const error = new Error("mine");
    await expect(run(async () => Promise.reject(error))).rejects.toBe(error);
    await expect(
      run(() => {
        throw error;
      }),
    ).rejects.toBe(error);
  });

  test("a stream that reports an error fails the run, without the provider's words", async () => {
    const broken = () => streamText({ model: mockModel(["a"], "error"), prompt: "x", onError: () => {} });
    const fake = fakeContext();
    const asResult = fnAgent(broken).run(fake.ctx);
    await expect(asResult).rejects.toMatchObject({ code: "provider_failed" });
    await expect(asResult).rejects.not.toMatchObject({ message: expect.stringContaining("sk-secret") });
    expect(fake.chunks.map((chunk) => chunk.type)).not.toContain("error");
    await expect(run(() => broken().toUIMessageStream())).rejects.toMatchObject({ code: "agent_failed" });
  });

  test("an error of the stream closes the generator", async () => {
    const fake = fakeContext();
    let closed = false;
    const refusing = {
      ...fake.ctx,
      stream: {
        ...fake.ctx.stream,
        text() {
          throw new Error("fenced");
        },
      },
    };
    const f = async function* () {
      try {
        yield "a";
        yield "b";
      } finally {
        closed = true;
      }
    };
    await expect(fnAgent(f).run(refusing)).rejects.toThrow("fenced");
    expect(closed).toBe(true);
  });
});

describe("when it is aborted", () => {
  const never = () => new Promise<never>(() => {});

  test("before it began, the function is not called", async () => {
    const fake = fakeContext();
    fake.abort(new Error("stop"));
    let called = false;
    const f = () => {
      called = true;
      return "";
    };
    await expect(fnAgent(f).run(fake.ctx)).rejects.toThrow("stop");
    expect(called).toBe(false);
  });

  test("a function that hangs does not hold the run", async () => {
    const fake = fakeContext();
    const running = fnAgent(never).run(fake.ctx);
    fake.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
  });

  test("a generator that hangs does not hold the run", async () => {
    const fake = fakeContext();
    const running = fnAgent(async function* () {
      yield "a";
      await never();
    }).run(fake.ctx);
    await fake.delta(1);
    fake.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
    expect(fake.deltas).toEqual(["a"]);
  });

  test("a generator that waits for something is asked to return, and what it yields then goes nowhere", async () => {
    const fake = fakeContext();
    const gate = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const running = fnAgent(async function* () {
      try {
        yield "a";
        await gate.promise;
        yield "late";
        yield "later";
      } finally {
        closed.resolve();
      }
    }).run(fake.ctx);
    await fake.delta(1);
    fake.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
    gate.resolve();
    await closed.promise;
    expect(fake.deltas).toEqual(["a"]);
  });

  test("a stream that hangs does not hold the run, and is closed", async () => {
    const fake = fakeContext();
    const cancelled = Promise.withResolvers<void>();
    const source = new ReadableStream<string>({
      start: (controller) => controller.enqueue("a"),
      cancel: () => cancelled.resolve(),
    });
    const running = fnAgent(() => source).run(fake.ctx);
    await fake.delta(1);
    fake.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
    await cancelled.promise;
  });

  test("a generator that never pauses leaves the event loop its turns", async () => {
    const fake = fakeContext();
    const running = fnAgent(async function* () {
      for (;;) yield "x";
    }).run(fake.ctx);
    setImmediate(() => fake.abort(new Error("stop")));
    await expect(running).rejects.toThrow("stop");
  });
});

test("the version changes with the settings and only with them, unless it is given", () => {
  const one = fnAgent(() => "a");
  expect(fnAgent(() => "b").version).toBe(one.version);
  expect(fnAgent(() => "a", { background: true }).version).not.toBe(one.version);
  expect(fnAgent(() => "a", { version: "2" }).version).toBe("2");
  expect(one).toMatchObject({
    kind: "fn",
    background: false,
    recovery: "notify",
    steerable: false,
    models: [],
  });
});
