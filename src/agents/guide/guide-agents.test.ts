import { describe, expect, test } from "vitest";
import { manualClock } from "../../kernel/clock.ts";
import { fakeContext, type FakeContextOptions } from "../../../test/support/fake-context.ts";
import { guideAgents } from "./guide-agents.ts";

/** A clock moved by hand that tells when its next pause has begun. */
function pausingClock() {
  const clock = manualClock();
  let begun = Promise.withResolvers<void>();
  return {
    ...clock,
    after(ms: number, callback: () => void) {
      const takeBack = clock.after(ms, callback);
      begun.resolve();
      return takeBack;
    },
    /** Waits until a pause has begun, then lets `ms` pass. */
    async pass(ms: number) {
      await begun.promise;
      begun = Promise.withResolvers();
      clock.advance(ms);
    },
  };
}

function setup(options: FakeContextOptions, name: "guide" | "worker" = "guide") {
  const clock = pausingClock();
  const fake = fakeContext(options);
  const agents = guideAgents({ clock });
  return { clock, fake, agent: agents[name], run: () => agents[name].run(fake.ctx) };
}

async function answerTo(text: string, options: FakeContextOptions = {}) {
  const { fake, run } = setup({ ...options, text });
  await run();
  return fake;
}

describe("anything", () => {
  test("is answered with what can be tried", async () => {
    const answer = (await answerTo("good morning")).deltas.join("");
    expect(answer).toContain("You said: good morning");
    for (const word of ["long", "slow", "fail", "job", "why"]) expect(answer).toContain(`\`${word}\``);
  });

  test("in Korean is answered in Korean", async () => {
    expect((await answerTo("안녕")).deltas.join("")).toMatch(/이렇게 말씀하셨어요: 안녕[^]*`길게`/);
  });

  test("with a file names the file", async () => {
    const file = { type: "file", mediaType: "image/png", url: "data:,", filename: "a.png" } as const;
    expect((await answerTo("", { parts: [file] })).deltas.join("")).toContain("I was given: a.png.");
  });

  test("a sentence that only begins with a word is no command", async () => {
    expect((await answerTo("why is the sky blue?")).deltas.join("")).toContain(
      "You said: why is the sky blue?",
    );
  });
});

test("long streams 200 deltas, each after its pause", async () => {
  const { clock, fake, run } = setup({ text: "Long!" });
  const running = run();
  for (let n = 1; n < 200; n += 1) {
    await fake.delta(n);
    await clock.pass(29);
    expect(fake.deltas).toHaveLength(n);
    clock.advance(1);
  }
  await running;
  expect(fake.deltas).toHaveLength(200);
});

test("slow takes 15 seconds, reports its progress, and then answers", async () => {
  const { clock, fake, run } = setup({ text: "/slow" });
  const running = run();
  for (let n = 1; n <= 5; n += 1) {
    await fake.progressed(n);
    expect(fake.deltas).toEqual([]);
    await clock.pass(3_000);
  }
  await running;
  expect(fake.progress.map(({ percent }) => percent)).toEqual([0, 20, 40, 60, 80]);
  expect(fake.deltas.join("")).toContain("15 seconds");
  expect(clock.now() - manualClock().now()).toBe(15_000);
});

test("a pause ends with the run's signal", async () => {
  const { fake, run } = setup({ text: "slow" });
  const running = run();
  await fake.progressed(1);
  fake.abort(new Error("stop"));
  await expect(running).rejects.toThrow("stop");
});

test("fail throws", async () => {
  await expect(answerTo("fail")).rejects.toThrow("asked to fail");
});

test("job starts the worker and names its run", async () => {
  const fake = await answerTo("job");
  expect(fake.started).toEqual([{ agent: "worker", input: "Count to ten, slowly." }]);
  expect(fake.deltas.join("")).toContain("run_job1");
  expect((await answerTo("작업")).started).toEqual([{ agent: "worker", input: "천천히 열까지 세기." }]);
});

test("the worker is a background agent that counts for 20 seconds and answers", async () => {
  const { agent, clock, fake, run } = setup({ text: "Count to ten, slowly." }, "worker");
  expect(agent.background).toBe(true);
  const running = run();
  for (let n = 1; n <= 10; n += 1) {
    await fake.progressed(n);
    await clock.pass(2_000);
  }
  await running;
  expect(fake.progress.at(-1)).toEqual({ text: "step 10 of 10", percent: 90 });
  expect(fake.deltas.join("")).toContain("The job is done: 10 steps (run_1)");
});

test("why tells the command for this very run", async () => {
  expect((await answerTo("why?")).deltas.join("")).toContain("waybill why run_1");
});
