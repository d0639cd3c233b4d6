import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  fakeContext,
  type FakeContext,
  type FakeContextOptions,
} from "../../../test/support/fake-context.ts";
import { makePuppets, type Puppets } from "../../../test/support/process-agents/puppets.ts";
import { manualClock, type ManualClock } from "../../kernel/clock.ts";
import { recordingLogger, type LogLine } from "../../test-kit/recording-logger.ts";
import type { OpenAgent } from "../agent.ts";
import { processAgent } from "./process-agent.ts";
import type { ProcessAgentOptions } from "./process-options.ts";

let puppets: Puppets;
let clock: ManualClock;
let logs: LogLine[];
let opened: OpenAgent[];

beforeEach(async () => {
  puppets = await makePuppets();
  clock = manualClock();
  logs = [];
  // What the gateway's side does is seen in its log; looks are taken then too.
  logs.push = (...lines) => {
    setImmediate(() => puppets.changed());
    return Array.prototype.push.apply(logs, lines);
  };
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.stop()));
  await puppets[Symbol.asyncDispose]();
});

function open(options: Partial<ProcessAgentOptions> = {}): OpenAgent {
  const agent = processAgent(puppets.options(options));
  const one = agent.open!({ agent: "helper", boot: "boot_1", log: recordingLogger(logs), clock });
  opened.push(one);
  return one;
}

interface Going extends FakeContext {
  ended: Promise<void>;
}

/** A run of its own with this text. */
function run(agent: OpenAgent, text: string, options: FakeContextOptions = {}): Going {
  const fake = fakeContext({ text, ...options });
  const ctx = { ...fake.ctx, run: { ...fake.ctx.run, id: `run_${text}` }, echo: `web:main/${text};sig=x` };
  const ended = agent.run(ctx);
  ended.catch(() => {});
  return { ...fake, ctx, ended };
}

function dropped(): unknown[] {
  return logs
    .filter(({ message }) => message === "a line of a process was dropped")
    .map(({ fields }) => fields["why"]);
}

describe("a turn", () => {
  test("is given whole, and its answer comes in deltas", async () => {
    const going = run(open(), "hi", { history: [], sender: { id: "U7", name: "Ada" } });
    const turn = await puppets.turn("hi");
    expect(await turn.puppet.line("hello")).toMatchObject({ v: 1, agent: "helper", concurrentTurns: 1 });
    expect(turn.line).toMatchObject({
      v: 1,
      turn: "run_hi-1",
      text: "hi",
      sender: { id: "U7", name: "Ada" },
      history: [],
      facts: [],
      address: "web:default/c1",
      reply_to: "web:main/hi;sig=x",
      run: { id: "run_hi", turn: "turn_1" },
    });
    turn.say({ type: "text", text: "one " });
    turn.say({ type: "data", name: "price", value: { eur: 3 }, id: "p" });
    turn.say({ type: "usage", inputTokens: 3, outputTokens: 4, steps: 1 });
    turn.say({ type: "done", text: "two" });
    await going.ended;
    expect(going.deltas).toEqual(["one ", "two"]);
    expect(going.data).toEqual([{ name: "price", value: { eur: 3 }, id: "p" }]);
    expect(going.used).toEqual({ inputTokens: 3, outputTokens: 4, steps: 1 });
  });

  test("asks, and is answered with its own request's id, in the order in which it asked", async () => {
    const going = run(open(), "hi", { steering: [[{ id: "m2", text: "and this", parts: [] }]] });
    const turn = await puppets.turn("hi");
    turn.say({ type: "say", id: "a", text: "first" });
    turn.say({ type: "start", id: 2, agent: "worker", text: "crunch", data: { n: 1 } });
    turn.say({ type: "progress", id: "c", text: "half", percent: 50 });
    turn.say({ type: "send", id: "d", to: "web:main/elsewhere", text: "x" });
    turn.say({ type: "status", id: "e", run: "run_9" });
    turn.say({ type: "follow_ups", id: "f" });
    await turn.puppet.line("result", (line) => line["id"] === "f");
    turn.answer("");
    await going.ended;
    const answers = turn.puppet.lines.filter(({ type }) => type === "result" || type === "error");
    expect(answers).toEqual([
      { v: 1, type: "result", turn: turn.id, id: "a", value: { delivery: "dlv_1" } },
      { v: 1, type: "result", turn: turn.id, id: 2, value: { run: "run_job1" } },
      { v: 1, type: "result", turn: turn.id, id: "c", value: {} },
      expect.objectContaining({ type: "error", id: "d", code: "cross_post_not_allowed" }),
      expect.objectContaining({ type: "error", id: "e", code: "unknown_run" }),
      {
        v: 1,
        type: "result",
        turn: turn.id,
        id: "f",
        value: { messages: [{ id: "m2", text: "and this", parts: [] }] },
      },
    ]);
    expect(going.started).toEqual([{ agent: "worker", input: { text: "crunch", data: { n: 1 } } }]);
  });

  test("a refusal that nobody would hear, because the request has no id, fails the run", async () => {
    const going = run(open(), "hi");
    const turn = await puppets.turn("hi");
    turn.say({ type: "send", to: "web:main/elsewhere", text: "x" });
    turn.say({ type: "done" });
    await expect(going.ended).rejects.toMatchObject({ code: "cross_post_not_allowed" });
  });

  test("fails as its process says; an unknown code is agent_failed", async () => {
    const agent = open({ pool: { max: 1 } });
    const cases = [
      ["provider_rate_limited", "provider_rate_limited"],
      ["my_code", "agent_failed"],
      ["run_lost", "agent_failed"],
    ] as const;
    for (const [code, wanted] of cases) {
      const going = run(agent, code);
      (await puppets.turn(code)).say({ type: "error", code, message: "it went wrong" });
      await expect(going.ended).rejects.toMatchObject({ code: wanted, message: "it went wrong" });
    }
    expect(puppets.all).toHaveLength(1);
  });

  test("that passes a limit is over, and its process is told to end it", async () => {
    const agent = open({ pool: { max: 1 } });
    const going = run(agent, "hi", { limits: { tokens: 5 } });
    const turn = await puppets.turn("hi");
    turn.say({ type: "usage", inputTokens: 6 });
    await expect(going.ended).rejects.toMatchObject({ code: "token_limit" });
    expect(await turn.puppet.line("cancel")).toEqual({
      v: 1,
      type: "cancel",
      turn: turn.id,
      reason: "failed",
    });
    turn.say({ type: "text", text: "late" });
    turn.say({ type: "done" });
    const next = run(agent, "next");
    (await puppets.turn("next")).answer("fine");
    await next.ended;
    expect([going.deltas, next.deltas, puppets.all.length]).toEqual([[], ["fine"], 1]);
  });
});

describe("lines that belong to nobody", () => {
  test("are dropped, told and counted; the turn that runs is not touched", async () => {
    const agent = open({ pool: { max: 2 } });
    const one = run(agent, "one");
    const two = run(agent, "two");
    const [first, second] = [await puppets.turn("one"), await puppets.turn("two")];
    expect(first.puppet).not.toBe(second.puppet);
    first.answer("1");
    await one.ended;
    const three = run(agent, "three");
    const third = await puppets.turn("three");
    expect(third.puppet).toBe(first.puppet);
    third.puppet.say({ type: "text", text: "no turn at all" });
    third.puppet.say({ type: "text", turn: "run_x-1", text: "unknown" });
    third.puppet.say({ type: "text", turn: first.id, text: "ended" });
    third.puppet.say({ type: "say", turn: second.id, id: 1, text: "of another process" });
    third.puppet.write("not json at all\n[1]\n\n");
    third.puppet.say({ type: "shout", text: "unknown type" });
    third.puppet.say({ v: 2, type: "say", turn: third.id, text: "another version", id: 5 });
    third.answer("3");
    second.answer("2");
    await Promise.all([two.ended, three.ended]);
    expect([one.deltas, two.deltas, three.deltas]).toEqual([["1"], ["2"], ["3"]]);
    expect([one.said, two.said, three.said]).toEqual([[], [], []]);
    expect(dropped()).toEqual([
      "no_turn",
      "unknown_turn",
      "ended_turn",
      "unknown_turn",
      "not_json",
      "not_json",
      "unknown_type",
    ]);
    expect(agent.health()).toMatchObject({ dropped: 7, crashes: 0, starts: 2 });
    expect(await third.puppet.line("refused")).toMatchObject({
      message: expect.stringContaining('the field "turn"'),
    });
    expect(JSON.stringify(logs)).not.toContain("no turn at all");
  });

  test("a line that names its turn and is malformed fails the turn, or its request", async () => {
    const agent = open({ pool: { max: 1 } });
    const one = run(agent, "one");
    const first = await puppets.turn("one");
    first.say({ type: "say", id: "r", text: 7 });
    expect(await first.puppet.line("error")).toMatchObject({
      turn: first.id,
      id: "r",
      code: "invalid_request",
      message: expect.stringContaining("text"),
    });
    first.say({ type: "text", text: 7 });
    await expect(one.ended).rejects.toMatchObject({ code: "agent_bad_output" });
    first.say({ type: "done" });
    const two = run(agent, "two");
    (await puppets.turn("two")).answer("fine");
    await two.ended;
    expect(puppets.all).toHaveLength(1);
  });

  test("a malformed piece of the answer fails the turn, though its part has an id", async () => {
    const going = run(open({ pool: { max: 1 } }), "hi");
    (await puppets.turn("hi")).say({ type: "data", name: "price", value: 1, id: 7 });
    await expect(going.ended).rejects.toMatchObject({ code: "agent_bad_output" });
  });

  test("an attempt's late line is not the next attempt's", async () => {
    const agent = open({ pool: { max: 1 } });
    const one = fakeContext({ text: "again" });
    const first = agent.run(one.ctx);
    const early = await puppets.turn("again");
    one.abort(new Error("stop"));
    await expect(first).rejects.toThrow("stop");
    early.say({ type: "done" });
    const two = fakeContext({ text: "again" });
    const second = agent.run({ ...two.ctx, run: { ...two.ctx.run, attempt: 2 } });
    const late = await puppets.turn("again");
    early.say({ type: "text", text: "of the first attempt" });
    late.answer("second");
    await second;
    expect([early.id, late.id, two.deltas]).toEqual(["run_1-1", "run_1-2", ["second"]]);
    expect(dropped()).toEqual(["ended_turn"]);
  });

  test("a process that speaks something else is ended, and says why", async () => {
    const going = run(open(), "hi");
    const turn = await puppets.turn("hi");
    turn.puppet.write("garbage\n".repeat(100));
    await expect(going.ended).rejects.toMatchObject({
      code: "agent_crashed",
      message: expect.stringContaining("100 lines in a row"),
    });
    await turn.puppet.ended();
  });

  test("an endless line ends its process, and nothing of it is kept", async () => {
    const going = run(open(), "hi");
    const turn = await puppets.turn("hi");
    turn.puppet.write("x".repeat(1024 * 1024 + 1));
    await expect(going.ended).rejects.toMatchObject({
      code: "agent_crashed",
      message: expect.stringContaining("1048576 bytes"),
    });
    await turn.puppet.ended();
  });
});

describe("the pool", () => {
  test("waits in order, at the ceiling, and reuses its processes", async () => {
    const agent = open({ pool: { max: 2 } });
    const goings = ["a", "b", "c", "d"].map((text) => run(agent, text));
    const [a, b] = [await puppets.turn("a"), await puppets.turn("b")];
    expect(agent.health()).toMatchObject({ processes: 2, turns: 2, waiting: 2, starts: 2 });
    b.answer("B");
    const c = await puppets.turn("c");
    expect(c.puppet).toBe(b.puppet);
    a.answer("A");
    const d = await puppets.turn("d");
    expect(d.puppet).toBe(a.puppet);
    d.answer("D");
    c.answer("C");
    await Promise.all(goings.map(({ ended }) => ended));
    expect(goings.map(({ deltas }) => deltas[0])).toEqual(["A", "B", "C", "D"]);
    expect(agent.health()).toMatchObject({ processes: 2, turns: 0, waiting: 0, starts: 2 });
  });

  test("gives one process as many turns as it takes at once, and keeps them apart", async () => {
    const agent = open({ pool: { max: 1, concurrentTurns: 2 } });
    const goings = ["a", "b", "c"].map((text) => run(agent, text));
    const [a, b] = [await puppets.turn("a"), await puppets.turn("b")];
    expect(a.puppet).toBe(b.puppet);
    b.say({ type: "text", text: "B1" });
    a.say({ type: "text", text: "A1" });
    b.say({ type: "text", text: "B2" });
    a.answer("A2");
    const c = await puppets.turn("c");
    c.answer("C");
    b.answer("B3");
    await Promise.all(goings.map(({ ended }) => ended));
    expect(goings.map(({ deltas }) => deltas.join(" "))).toEqual(["A1 A2", "B1 B2 B3", "C"]);
    expect(puppets.all).toHaveLength(1);
  });

  test("a waiting turn that is aborted leaves the queue", async () => {
    const agent = open({ pool: { max: 1 } });
    const [a, b, c] = ["a", "b", "c"].map((text) => run(agent, text)) as [Going, Going, Going];
    const turn = await puppets.turn("a");
    b.abort(new Error("stop"));
    await expect(b.ended).rejects.toThrow("stop");
    expect(agent.health()).toMatchObject({ waiting: 1 });
    turn.answer("A");
    (await puppets.turn("c")).answer("C");
    await Promise.all([a.ended, c.ended]);
    expect(turn.puppet.lines.filter(({ type }) => type === "turn").map(({ text }) => text)).toEqual([
      "a",
      "c",
    ]);
  });

  test("ends what is idle, but for min, and starts again when it is needed", async () => {
    const agent = open({ pool: { min: 1, max: 2, idleMs: 1_000 } });
    const goings = ["a", "b"].map((text) => run(agent, text));
    const [a, b] = [await puppets.turn("a"), await puppets.turn("b")];
    a.answer("A");
    await goings[0]!.ended;
    clock.advance(500);
    b.answer("B");
    await goings[1]!.ended;
    clock.advance(999);
    clock.advance(1);
    await puppets.until("one process", () => agent.health().processes === 1 || undefined);
    clock.advance(60_000);
    expect(agent.health()).toMatchObject({ processes: 1, crashes: 0 });
    const next = run(agent, "c");
    const c = await puppets.turn("c");
    expect(c.puppet).toBe(b.puppet);
    c.answer("C");
    await next.ended;
  });

  test("a process that ends while idle is replaced, and no run fails", async () => {
    const agent = open({ pool: { max: 1 } });
    for (const [n, end] of [
      { kind: "exit", code: 0 },
      { kind: "exit", code: 3 },
      { kind: "kill", signal: "SIGKILL" },
    ].entries()) {
      const going = run(agent, `t${n}`);
      const turn = await puppets.turn(`t${n}`);
      turn.answer("fine");
      await going.ended;
      turn.puppet.order(end as never);
      await puppets.until(
        "its end to be noticed",
        () => (turn.puppet.gone && agent.health().processes === 0) || undefined,
      );
    }
    expect(agent.health()).toMatchObject({ starts: 3, crashes: 2 });
  });

  test("a process that says bye ends its turns and gets no more", async () => {
    const agent = open({ pool: { max: 1, concurrentTurns: 2 } });
    const one = run(agent, "one");
    const first = await puppets.turn("one");
    first.puppet.say({ type: "bye" });
    first.say({ type: "progress", id: 1, text: "still here" });
    await first.puppet.line("result");
    const two = run(agent, "two");
    first.answer("1");
    const second = await puppets.turn("two");
    expect(second.puppet).not.toBe(first.puppet);
    second.answer("2");
    await Promise.all([one.ended, two.ended]);
    expect(agent.health()).toMatchObject({ crashes: 0 });
  });
});
