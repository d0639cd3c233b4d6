/** What is running is looked up; a job that nobody was told of never runs. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import { recordingChannel } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn } from "./support.ts";

eachStore((store) => {
  scenario(
    ["LEDG-1"],
    "a run's record has id, agent, state, reason, times and its places, whatever the conversation forgets",
    async () => {
      const finish = gate();
      const worker = agent.fn(async (ctx) => {
        await ctx.progress("half way", 50);
        await finish.opened;
        throw new Error("out of paper");
      });
      const boss = agent.fn(async (ctx) => {
        await ctx.start("worker", "print it");
        return "started";
      });
      await using t = await gatewayOn(store, { agents: { boss, worker } });
      const place = { conversation: "room", thread: "t1" };
      const asked = await t.say("print it", place);
      const [, job] = await t.runs();
      const address = "web:main/room/t1";
      await t.until("progress", async () => (await t.run(job?.id ?? "")).progress);

      // A new memory and fifty further messages change nothing about what is running.
      await t.say("new", place);
      for (let n = 0; n < 50; n += 1) await t.say("status", place);
      const running = await t.status(address);
      finish.open();
      const ended = await t.ended(job?.id ?? "");

      expect(running.runs[0]).toMatchObject({
        id: job?.id,
        agent: "worker",
        state: "running",
        reason: null,
        progress: "half way",
        progressPercent: 50,
        origin: address,
        replyTo: address,
        postedIn: null,
        parent: asked.run,
        finishedAt: null,
      });
      expect(running.text).toContain("half way");
      expect(ended).toMatchObject({ state: "failed", reason: "agent_failed", postedIn: address });
      expect(ended.createdAt).toBeLessThanOrEqual(ended.startedAt ?? 0);
      expect(ended.startedAt).toBeLessThanOrEqual(ended.finishedAt ?? 0);
      const kinds = (await t.events(ended.id)).map(({ kind }) => kind);
      expect(kinds).toEqual(["staged", "released", "claimed", "progress", "failed"]);
    },
  );

  scenario(["LEDG-2"], "a job begins with its parent's next message there, and not before", async () => {
    const [isStarted, mayTell] = [gate(), gate()];
    const ran: string[] = [];
    const worker = agent.fn(async (ctx) => {
      ran.push(ctx.text);
      return `done: ${ctx.text}`;
    });
    const boss = agent.fn(async (ctx) => {
      await ctx.start("worker", "first");
      isStarted.open();
      await mayTell.opened;
      await ctx.say("I am on it.");
      return "that was all";
    });
    await using t = await gatewayOn(store, { agents: { boss, worker } });
    const asked = await t.post("go");
    await isStarted.opened;
    const [, staged] = await t.runs();
    expect(staged).toMatchObject({ state: "staged", startedAt: null });
    // Another conversation's whole turn passes, and still nothing of it has begun.
    await t.say("status", { conversation: "elsewhere" });
    expect(ran).toEqual([]);
    mayTell.open();
    await t.ended(staged?.id ?? "");
    await t.settled();

    const posts = await t.posts("web:main/chat");
    expect(posts.map(({ text }) => text).toSorted()).toEqual(["I am on it.", "done: first", "that was all"]);
    const acknowledged = posts.find(({ text }) => text === "I am on it.");
    const result = posts.find(({ text }) => text === "done: first");
    expect(acknowledged?.seq).toBeLessThan(result?.seq ?? 0);
    const events = await t.events(staged?.id ?? "");
    expect(events.map(({ kind }) => kind)).toEqual(["staged", "released", "claimed", "completed"]);
    // Released in the transaction that acknowledged it: one moment for both.
    expect(events[1]?.at).toBe(acknowledged?.at);
    expect(await t.run(asked.run ?? "")).toMatchObject({ state: "completed" });
  });

  const ends = {
    fails: () => {
      throw new Error("no");
    },
    "is silent": (ctx: { silent(): void }) => ctx.silent(),
    "says nothing": () => "",
  };
  for (const [how, end] of Object.entries(ends)) {
    scenario(["LEDG-2"], "a job whose parent ends without a word never starts", async () => {
      const ran: string[] = [];
      const worker = agent.fn(async (ctx) => {
        ran.push(ctx.text);
        return "done";
      });
      const boss = agent.fn(async (ctx) => {
        await ctx.start("worker", how);
        return end(ctx) ?? "";
      });
      await using t = await gatewayOn(store, { agents: { boss, worker } });
      await t.say("go");
      await t.settled();
      const [, job] = await t.runs();
      expect(job).toMatchObject({ state: "cancelled", reason: "parent", startedAt: null, attempts: 0 });
      expect(ran).toEqual([]);
      await t.restart();
      await t.say("status");
      expect(ran).toEqual([]);
    });
  }

  scenario(["LEDG-2"], "a job whose parent is stopped before it told of it never starts", async () => {
    const isStarted = gate();
    const boss = agent.fn(async (ctx) => {
      await ctx.start("worker", "x");
      isStarted.open();
      await new Promise(() => {});
    });
    const worker = agent.fn(async () => "never");
    await using t = await gatewayOn(store, { agents: { boss, worker } });
    const asked = await t.post("go");
    await isStarted.opened;
    await t.cancel(asked.run ?? "");
    await t.settled();
    expect((await t.runs()).map(({ agent: name, state }) => [name, state])).toEqual([
      ["boss", "cancelled"],
      ["worker", "cancelled"],
    ]);
    expect(await t.posts()).toEqual([]);
  });

  scenario(
    ["LEDG-2"],
    "a job whose parent was on its way when the gateway stopped never starts",
    async () => {
      const isStarted = gate();
      const ran: string[] = [];
      const boss = agent.fn(async (ctx) => {
        await ctx.start("worker", "x");
        isStarted.open();
        await new Promise(() => {});
      });
      const worker = agent.fn(async (ctx) => void ran.push(ctx.text));
      await using t = await gatewayOn(store, { agents: { boss, worker } });
      const asked = await t.post("go");
      await isStarted.opened;
      await t.restart();
      await t.settled();
      expect((await t.runs()).map(({ agent: name, state }) => [name, state])).toEqual([
        ["boss", "interrupted"],
        ["worker", "cancelled"],
      ]);
      expect(ran).toEqual([]);
      expect((await t.posts()).map(({ notice, run }) => [notice, run])).toEqual([
        ["run.interrupted", asked.run],
      ]);
    },
  );

  scenario(
    ["LEDG-2", "LEDG-1"],
    "an agent that works in the background acknowledges in the commit that makes its run",
    async () => {
      const chat = recordingChannel({ kind: "chat" });
      const finish = gate();
      const worker = agent.fn(
        async (ctx) => {
          await finish.opened;
          return `result of ${ctx.text}`;
        },
        { background: true },
      );
      await using t = await gatewayOn(store, { agents: { worker }, channels: [chat] });
      const first = await t.post("one", { address: "chat:test/room" });
      const second = await t.post("two", { address: "chat:test/room" });
      // Both are at work: jobs do not wait for one another, and people were told of each.
      await t.reached(first.run ?? "", (state) => state === "running");
      await t.reached(second.run ?? "", (state) => state === "running");
      await chat.attempted(2);
      finish.open();
      await t.settled();

      const texts = chat.posts("chat:test/room").map(({ text }) => text);
      expect(texts.slice(0, 2)).toEqual([
        `I have taken this on as a job for worker and will post the result here. (run ${first.run})`,
        `I have taken this on as a job for worker and will post the result here. (run ${second.run})`,
      ]);
      expect(texts.slice(2).toSorted()).toEqual(["result of one", "result of two"]);
      for (const { run, turn } of [first, second]) {
        const [acknowledged] = await t.deliveries({ turn });
        const [recorded] = await t.events(run ?? "");
        const message = (await t.messages()).find(({ id }) => id === acknowledged?.message);
        expect(acknowledged).toMatchObject({ kind: "say", rule: "turn", run });
        expect(recorded).toMatchObject({ kind: "queued", at: message?.at });
      }
    },
  );
});
