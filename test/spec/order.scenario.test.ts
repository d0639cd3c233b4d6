/** Turns of a lane run in order, each event is handled once, and nobody waits for another lane. */
import fc from "fast-check";
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import { recordingChannel } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gates, gatewayOn, refusal } from "./support.ts";

const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);

eachStore((store) => {
  scenario(["LEDG-13"], "the same event again makes nothing twice, before and after a restart", async () => {
    const chat = recordingChannel({ kind: "chat" });
    const asked: string[] = [];
    const counter = agent.fn(async (ctx) => {
      asked.push(ctx.text);
      return `answer to ${ctx.text}`;
    });
    await using t = await gatewayOn(store, { agents: { counter }, channels: [chat] });
    const first = await chat.receive("room", "hello", { id: "e1" });
    const { repeated: _, ...same } = first;
    const again = await Promise.all(
      Array.from({ length: 5 }, () => chat.receive("room", "hello", { id: "e1" })),
    );
    await t.settled();
    await t.restart();
    again.push(await chat.receive("room", "hello", { id: "e1" }));
    await t.settled();
    expect(first.repeated).toBe(false);
    for (const one of again) expect(one).toEqual({ ...same, repeated: true });
    expect(asked).toEqual(["hello"]);
    expect(chat.posts().map(({ text }) => text)).toEqual(["answer to hello"]);
    expect((await t.messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);

    // The id counts in its conversation only, and with another content it is no repetition.
    await t.settled((await chat.receive("lobby", "hello", { id: "e1" })).turn);
    expect(asked).toEqual(["hello", "hello"]);
    expect(await refusal(() => chat.receive("room", "other", { id: "e1" }))).toMatchObject({
      code: "idempotency_conflict",
    });
    expect(asked).toEqual(["hello", "hello"]);
  });

  scenario(["LEDG-13"], "a reserved word that comes again is answered once", async () => {
    await using t = await gatewayOn(store, { agents: { echo } });
    const first = await t.say("help", { id: "h1" });
    expect(await t.say("help", { id: "h1" })).toMatchObject({ turn: first.turn, repeated: true });
    expect(await t.posts()).toHaveLength(1);
  });

  scenario(
    ["LEDG-13", "LEDG-16"],
    "what was accepted before a stop is answered after the start, in order for each conversation",
    async () => {
      const [isWorking, stopped] = [gate(), gate()];
      const order: string[] = [];
      const slow = agent.fn(async (ctx) => {
        if (ctx.text === "first") {
          isWorking.open();
          await stopped.opened;
        }
        order.push(ctx.text);
        return `answer to ${ctx.text}`;
      });
      await using t = await gatewayOn(store, { agents: { slow } });
      await t.post("first", { conversation: "a" });
      await isWorking.opened;
      for (const text of ["a1", "a2", "a3"]) await t.post(text, { conversation: "a" });
      await t.restart();
      stopped.open();
      await t.settled();

      expect(order.filter((text) => text.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
      const posts = await t.posts("web:main/a");
      expect(posts.map(({ text, notice }) => notice ?? text)).toEqual([
        "run.interrupted",
        "answer to a1",
        "answer to a2",
        "answer to a3",
      ]);
      const attempts = (await t.runs()).map((run) => run.attempts);
      expect(attempts).toEqual([1, 1, 1, 1]);
    },
  );

  scenario(["LEDG-16"], "a busy lane queues; other lanes, its threads too, go on meanwhile", async () => {
    const opened = gates();
    const slow = agent.fn(async (ctx) => {
      if (ctx.text.startsWith("wait")) await opened(ctx.text).opened;
      return `answer to ${ctx.text}`;
    });
    await using t = await gatewayOn(store, { agents: { slow } });
    const first = await t.post("wait 1");
    const second = await t.post("two");
    const third = await t.post("wait 3");
    await t.reached(first.run ?? "", (state) => state === "running");

    // Twenty whole turns of other places pass while the first one is still thinking.
    for (let n = 0; n < 10; n += 1) {
      expect((await t.say(`${n}`, { thread: `t${n}` })).text).toBe(`answer to ${n}`);
      expect((await t.say(`${n}`, { conversation: `c${n}` })).text).toBe(`answer to ${n}`);
    }
    expect(await t.run(second.run ?? "")).toMatchObject({ state: "queued", startedAt: null });
    opened("wait 1").open();
    await t.ended(second.run ?? "");
    await t.reached(third.run ?? "", (state) => state === "running");
    opened("wait 3").open();
    await t.settled();
    const texts = (await t.posts("web:main/chat")).map(({ text }) => text);
    expect(texts).toEqual(["answer to wait 1", "answer to two", "answer to wait 3"]);
  });

  scenario(["LEDG-16"], "interrupt: a newer message ends the run of its lane and of no other", async () => {
    const working = gates();
    const signals: string[] = [];
    const slow = agent.fn(async (ctx) => {
      if (!ctx.text.startsWith("slow")) return `answer to ${ctx.text}`;
      ctx.signal.addEventListener("abort", () => signals.push(ctx.text));
      working(ctx.text).open();
      return new Promise<string>(() => {});
    });
    const worker = agent.fn(async () => new Promise<string>(() => {}), { background: true });
    await using t = await gatewayOn(store, { agents: { slow, worker }, followUp: "interrupt" });
    const here = await t.post("slow here", { conversation: "a" });
    const there = await t.post("slow there", { conversation: "b" });
    const thread = await t.post("slow thread", { conversation: "a", thread: "t1" });
    const job = await t.post("a job", { conversation: "a", agent: "worker" });
    await working("slow here").opened;
    await working("slow there").opened;
    await working("slow thread").opened;
    await t.reached(job.run ?? "", (state) => state === "running");

    const newer = await t.say("newer", { conversation: "a" });

    expect(newer.text).toBe("answer to newer");
    expect(signals).toEqual(["slow here"]);
    expect(await t.run(here.run ?? "")).toMatchObject({ state: "cancelled", reason: "newer_message" });
    for (const { run } of [there, thread, job])
      expect(await t.run(run ?? "")).toMatchObject({ state: "running" });
    const answers = (await t.posts("web:main/a")).filter(({ notice }) => notice === null);
    expect(answers.map(({ text }) => text)).toEqual(["answer to newer"]);
  });

  scenario(
    ["LEDG-16", "ADDR-9"],
    "steer: a run takes what the same person adds there, and nothing of another person or place",
    async () => {
      const [isWorking, allSent] = [gate(), gate()];
      const steered = agent.fn(
        async (ctx) => {
          if (ctx.text !== "first") return `answer to ${ctx.text}`;
          isWorking.open();
          await allSent.opened;
          const more = await ctx.takeSteering();
          const again = await ctx.takeSteering();
          return ["first", ...more.map(({ text }) => text), ...again.map(({ text }) => text)].join(" + ");
        },
        { steerable: true },
      );
      const agents = { steered };
      await using t = await gatewayOn(store, { agents, followUp: "steer", memory: "shared" });
      const first = await t.post("first", { sender: "ada" });
      await isWorking.opened;
      const second = await t.post("second", { sender: "ada" });
      await t.post("in a thread", { sender: "ada", thread: "t1" });
      await t.post("elsewhere", { sender: "ada", conversation: "other" });
      const bobs = await t.post("bob's", { sender: "bob" });
      const late = await t.post("after bob", { sender: "ada" });
      allSent.open();
      await t.settled();

      expect((await t.posts("web:main/chat")).map(({ text }) => text)).toEqual([
        "first + second",
        "answer to bob's",
        "answer to after bob",
      ]);
      expect((await t.posts("web:main/chat/t1")).map(({ text }) => text)).toEqual(["answer to in a thread"]);
      expect((await t.posts("web:main/other")).map(({ text }) => text)).toEqual(["answer to elsewhere"]);
      expect(await t.run(second.run ?? "")).toMatchObject({
        state: "cancelled",
        reason: "steered",
        attempts: 0,
      });
      for (const { run } of [first, bobs, late]) {
        expect(await t.run(run ?? "")).toMatchObject({ state: "completed" });
      }
      const steering = (await t.events(first.run ?? "")).filter(({ kind }) => kind === "steered");
      expect(steering.map(({ data }) => data?.["from"])).toEqual([second.run]);
    },
  );

  scenario(["LEDG-16"], "steer: what was taken is remembered in the order it was said", async () => {
    const [isWorking, sent] = [gate(), gate()];
    const steered = agent.fn(
      async (ctx) => {
        if (ctx.text === "what was said?") return ctx.history.map(({ text }) => text).join(" | ");
        isWorking.open();
        await sent.opened;
        await ctx.takeSteering();
        return "both answered";
      },
      { steerable: true },
    );
    await using t = await gatewayOn(store, { agents: { steered }, followUp: "steer" });
    await t.post("first");
    await isWorking.opened;
    const second = await t.post("second");
    sent.open();
    await t.settled();
    expect((await t.say("what was said?")).text).toBe("first | second | both answered");
    // The message that was taken has been answered; status does not call it stopped.
    expect((await t.status()).runs.find(({ id }) => id === second.run)?.reason).toBe("steered");
    expect((await t.status()).text).not.toContain("stopped");
  });

  scenario(
    ["LEDG-16"],
    "whatever comes in whatever order, each lane's answers are in the order of its messages",
    async () => {
      const running = new Map<string, number>();
      const agents = {
        busy: agent.fn(async (ctx) => {
          running.set(ctx.address, (running.get(ctx.address) ?? 0) + 1);
          const together = running.get(ctx.address);
          for (let n = 0; n < Number(ctx.text.split(":")[1]); n += 1) await Promise.resolve();
          if (ctx.text.endsWith("say")) await ctx.say(`said ${ctx.text}`);
          running.set(ctx.address, (running.get(ctx.address) ?? 0) - 1);
          return `${ctx.text} with ${together}`;
        }),
      };
      await using t = await gatewayOn(store, { agents });
      let round = 0;
      const message = fc.record({
        lane: fc.nat(4),
        work: fc.nat(30),
        how: fc.constantFrom("plain", "say"),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 40 }), async (messages) => {
          round += 1;
          await Promise.all(
            messages.map(({ lane, work, how }, n) =>
              t.post(`${n}:${work}:${how}`, { conversation: `r${round}-${lane}` }),
            ),
          );
          await t.settled();
          for (let lane = 0; lane <= 4; lane += 1) {
            const here = await t.messages(t.address(`r${round}-${lane}`));
            const [asked, answered] = [
              here.filter(({ role }) => role === "user"),
              here.filter(({ role }) => role === "assistant"),
            ];
            const expected = asked.flatMap(({ text }) => [
              ...(text.endsWith("say") ? [`said ${text}`] : []),
              `${text} with 1`,
            ]);
            expect(answered.map(({ text }) => text)).toEqual(expected);
          }
        }),
        { numRuns: 8 },
      );
    },
  );
});
