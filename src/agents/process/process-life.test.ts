import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fakeContext, type FakeContext } from "../../../test/support/fake-context.ts";
import { isAlive, makePuppets, type Puppets } from "../../../test/support/process-agents/puppets.ts";
import { manualClock, type ManualClock } from "../../kernel/clock.ts";
import { WaybillError } from "../../kernel/errors.ts";
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
  const agent = processAgent(puppets.options({ pool: { max: 1 }, ...options }));
  const one = agent.open!({ agent: "helper", boot: "boot_1", log: recordingLogger(logs), clock });
  opened.push(one);
  return one;
}

function run(agent: OpenAgent, text: string): FakeContext & { ended: Promise<void> } {
  const fake = fakeContext({ text });
  const ended = agent.run({ ...fake.ctx, run: { ...fake.ctx.run, id: `run_${text}` } });
  ended.catch(() => {});
  return { ...fake, ended };
}

function logged(message: string): Promise<LogLine> {
  return puppets.until(`the log line "${message}"`, () => logs.find((line) => line.message === message));
}

const ended = "an agent's process ended badly";

describe("a crash", () => {
  test("fails the turns of its process and no others, with how it ended", async () => {
    const agent = open({ pool: { max: 2 } });
    const [one, two] = [run(agent, "one"), run(agent, "two")];
    const [first, second] = [await puppets.turn("one"), await puppets.turn("two")];
    first.say({ type: "text", text: "half" });
    await one.delta(1);
    first.puppet.order({ kind: "exit", code: 3 });
    await expect(one.ended).rejects.toMatchObject({
      code: "agent_crashed",
      message: expect.stringContaining("exit code 3"),
      details: { exitCode: 3, signal: null },
    });
    second.answer("fine");
    await two.ended;
    const three = run(agent, "three");
    (await puppets.turn("three")).puppet.order({ kind: "kill", signal: "SIGKILL" });
    await expect(three.ended).rejects.toMatchObject({ details: { exitCode: null, signal: "SIGKILL" } });
    expect(agent.health()).toMatchObject({ crashes: 2 });
  });

  test("what a process says before it ends counts: a turn that it has ended is complete", async () => {
    const agent = open();
    const going = run(agent, "one");
    const turn = await puppets.turn("one");
    turn.answer("whole");
    turn.puppet.order({ kind: "exit", code: 0 });
    await going.ended;
    expect(going.deltas).toEqual(["whole"]);
  });

  test("again and again: the next start waits, twice as long each time, until a turn succeeds", async () => {
    const agent = open();
    const crash = async (text: string) => {
      const going = run(agent, text);
      (await puppets.turn(text)).puppet.order({ kind: "exit", code: 1 });
      await expect(going.ended).rejects.toMatchObject({ code: "agent_crashed" });
    };
    await crash("1");
    await crash("2"); // Started at once after the first.
    const third = crash("3");
    expect(agent.health()).toMatchObject({ processes: 0, waiting: 1 });
    clock.advance(249);
    expect(agent.health()).toMatchObject({ processes: 0, waiting: 1 });
    clock.advance(1);
    await third;
    const going = run(agent, "4");
    clock.advance(499);
    expect(agent.health()).toMatchObject({ processes: 0, waiting: 1 });
    clock.advance(1);
    (await puppets.turn("4")).answer("fine");
    await going.ended;
    await crash("5");
    await crash("6");
  });
});

describe("a cancel", () => {
  const cancelled = (cause: string) => new WaybillError("run_lost", "ended", { cause });

  test("reaches the process with its cause; once it has ended the turn it is reused", async () => {
    const agent = open();
    const one = run(agent, "one");
    const turn = await puppets.turn("one");
    one.abort(cancelled("deadline"));
    await expect(one.ended).rejects.toMatchObject({ code: "run_lost" });
    expect(await turn.puppet.line("cancel")).toMatchObject({ turn: turn.id, reason: "deadline" });
    turn.say({ type: "error", message: "as you wish" });
    const two = run(agent, "two");
    const second = await puppets.turn("two");
    clock.advance(60_000); // The grace of the first is over and done with.
    second.answer("fine");
    await two.ended;
    expect([second.puppet === turn.puppet, two.deltas]).toEqual([true, ["fine"]]);
  });

  test("that is ignored ends the process after the grace; its other turns are told why", async () => {
    const agent = open({ pool: { max: 1, concurrentTurns: 2 }, cancelGraceMs: 1_000 });
    const [one, two] = [run(agent, "one"), run(agent, "two")];
    const [first] = [await puppets.turn("one"), await puppets.turn("two")];
    one.abort(cancelled("cancel"));
    await first.puppet.line("cancel");
    clock.advance(999);
    expect(isAlive(first.puppet.pid)).toBe(true);
    clock.advance(1);
    await expect(two.ended).rejects.toMatchObject({
      code: "agent_crashed",
      message: expect.stringContaining("did not end another turn"),
    });
    await first.puppet.ended();
    const three = run(agent, "three");
    (await puppets.turn("three")).answer("fine");
    await three.ended;
  });
});

test("a process that does not read is ended before what waits for it fills the memory", async () => {
  const agent = open({ pool: { max: 1, concurrentTurns: 2 } });
  const one = run(agent, "one");
  const first = await puppets.turn("one");
  first.puppet.order({ kind: "deaf" });
  await first.puppet.event("written");
  const fake = fakeContext({ text: "x".repeat(17 * 1024 * 1024) });
  const two = agent.run({ ...fake.ctx, run: { ...fake.ctx.run, id: "run_two" } });
  two.catch(() => {});
  await new Promise(setImmediate); // The grant of the second is a promise of its own.
  one.abort(new Error("stop"));
  await expect(two).rejects.toMatchObject({
    code: "agent_crashed",
    message: expect.stringContaining("does not read its standard input"),
  });
});

describe("a start", () => {
  test("of a program that is not there fails at once, by name, for all that wait", async () => {
    const agent = processAgent({ command: "no-such-program-here", pool: { max: 1 } });
    const one = agent.open!({ agent: "helper", boot: "b", log: recordingLogger(logs), clock });
    const goings = [run(one, "a"), run(one, "b")];
    for (const { ended: end } of goings) {
      await expect(end).rejects.toMatchObject({
        code: "agent_not_started",
        message: expect.stringContaining('"no-such-program-here" could not be started (ENOENT)'),
      });
    }
    await one.stop();
  });

  test("that takes too long, and logs to standard output, says so", async () => {
    puppets.ready = false;
    const agent = open({ startTimeoutMs: 1_000 });
    const going = run(agent, "hi");
    const puppet = await puppets.puppet(0);
    puppet.write("loading the model ...\n");
    await puppet.line("refused");
    clock.advance(1_000);
    await expect(going.ended).rejects.toMatchObject({
      code: "agent_not_started",
      message: expect.stringMatching(/within 1000 ms\. It wrote 1 lines on standard output/),
    });
    await puppet.ended();
  });

  test("that is slow loses nothing: its turn waits, and one that was aborted meanwhile is never given", async () => {
    puppets.ready = false;
    const agent = open({ pool: { max: 1, concurrentTurns: 2 } });
    const [one, two] = [run(agent, "one"), run(agent, "two")];
    const puppet = await puppets.puppet(0);
    one.abort(new Error("stop"));
    await expect(one.ended).rejects.toThrow("stop");
    puppet.ready();
    (await puppets.turn("two")).answer("fine");
    await two.ended;
    expect(puppet.lines.map(({ type }) => type)).toEqual(["hello", "turn"]);
  });

  test("of something that ends before it is ready gives its exit code", async () => {
    puppets.ready = false;
    const going = run(open(), "hi");
    (await puppets.puppet(0)).order({ kind: "exit", code: 7 });
    await expect(going.ended).rejects.toMatchObject({ code: "agent_not_started", details: { exitCode: 7 } });
  });

  test("has an environment of names that were listed, and of its own grant; nothing of a turn", async () => {
    process.env["PUPPET_SECRET"] = "hush-hush-hush";
    process.env["PUPPET_OTHER"] = "not listed";
    const agent = open({ env: ["PUPPET_SECRET", "PUPPET_ABSENT"] });
    const going = run(agent, "hi");
    const turn = await puppets.turn("hi");
    const { env } = turn.puppet;
    expect(env).toMatchObject({
      PUPPET_SECRET: "hush-hush-hush",
      WAYBILL_GRANT: "wbg_process:helper:boot_1:1",
    });
    const names = [
      "PATH",
      "HOME",
      "USER",
      "LANG",
      "LC_ALL",
      "TZ",
      "TMPDIR",
      "PUPPET_SECRET",
      "WAYBILL_GRANT",
    ];
    expect(Object.keys(env).filter((name) => !names.includes(name))).toEqual([]);
    turn.puppet.order({
      kind: "log",
      text: `the key is hush-hush-hush, token=abcdefgh\n${env["WAYBILL_GRANT"]}\n`,
    });
    await puppets.until("both lines in the log", () => logs.filter(({ fields }) => "stderr" in fields)[1]);
    turn.answer("fine");
    await going.ended;
    expect(JSON.stringify(logs)).not.toMatch(/hush-hush|abcdefgh|wbg_/);
  });
});

describe("a stop", () => {
  test("leaves no process, nor what a process started, however stubborn they are", async () => {
    const agent = open({ pool: { max: 2 } });
    const [one, two] = [run(agent, "one"), run(agent, "two")];
    const [first, second] = [await puppets.turn("one"), await puppets.turn("two")];
    first.puppet.order({ kind: "stubborn" });
    await first.puppet.event("written");
    const grandchild = await puppets.grandchild(second.puppet);
    await agent.stop();
    await expect(one.ended).rejects.toMatchObject({ code: "shutting_down" });
    await expect(two.ended).rejects.toMatchObject({ code: "shutting_down" });
    expect([first.puppet.pid, second.puppet.pid].map((one_) => isAlive(one_))).toEqual([false, false]);
    await first.puppet.event("signal"); // It was asked before.
    await puppets.until("the end of the grandchild", () => !grandchild.lives || undefined);
    await expect(run(agent, "late").ended).rejects.toMatchObject({ code: "shutting_down" });
  });

  test("while a process starts, and while turns wait", async () => {
    puppets.ready = false;
    const agent = open();
    const goings = [run(agent, "one"), run(agent, "two")];
    const puppet = await puppets.puppet(0);
    await agent.stop();
    for (const { ended: end } of goings) await expect(end).rejects.toMatchObject({ code: "shutting_down" });
    expect(isAlive(puppet.pid)).toBe(false);
  });

  test("of one gateway ends its own processes only, though another has the same agent", async () => {
    const agent = processAgent(puppets.options());
    const [left, right] = ["boot_1", "boot_2"].map((boot) => {
      const one = agent.open!({ agent: "helper", boot, log: recordingLogger(logs), clock });
      opened.push(one);
      return one;
    }) as [OpenAgent, OpenAgent];
    const [one, two] = [run(left, "one"), run(right, "two")];
    const [first, second] = [await puppets.turn("one"), await puppets.turn("two")];
    expect(first.puppet).not.toBe(second.puppet);
    first.answer("1");
    await one.ended;
    await left.stop();
    second.answer("2");
    await two.ended;
    expect([isAlive(first.puppet.pid), isAlive(second.puppet.pid)]).toEqual([false, true]);
  });
});

test("a crash is in the log with its exit code", async () => {
  const going = run(open(), "hi");
  (await puppets.turn("hi")).puppet.order({ kind: "exit", code: 4 });
  await expect(going.ended).rejects.toMatchObject({ code: "agent_crashed" });
  expect((await logged(ended)).fields).toMatchObject({ code: 4, signal: null });
});

test("an option that cannot be used is named", () => {
  const cases: [object | undefined, RegExp][] = [
    [undefined, /command must be/],
    [{ command: "" }, /command must be/],
    [{ command: "x", args: "y" }, /args must be a list of texts/],
    [{ command: "x", env: ["KEY=secret-value"] }, /env holds names of variables only/],
    [{ command: "x", env: ["WAYBILL_KEY"] }, /env may not name WAYBILL_KEY/],
    [{ command: "x", cwd: 3 }, /cwd must be/],
    [{ command: "x", pool: { mx: 3 } }, /pool has no field "mx"/],
    [{ command: "x", pool: { max: 0 } }, /pool\.max must be a whole number of at least 1/],
    [{ command: "x", pool: { min: 5 } }, /pool\.min \(5\) must not be above pool\.max \(4\)/],
    [{ command: "x", startTimeoutMs: 0 }, /startTimeoutMs/],
    [{ command: "x", shell: true }, /agent\.process has no option "shell"/],
  ];
  for (const [options, message] of cases) {
    expect(() => processAgent(options as never)).toThrow(expect.objectContaining({ code: "config_invalid" }));
    expect(() => processAgent(options as never)).toThrow(message);
    expect(() => processAgent(options as never)).not.toThrow(/secret-value/);
  }
});
