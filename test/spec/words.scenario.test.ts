/** Words that always work: stop, new, status, help. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import { recordingChannel } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gatewayOn } from "./support.ts";

const forever = agent.fn(() => new Promise<string>(() => {}));
const counting = agent.fn(async (ctx) => `${ctx.history.length} before`);

eachStore((store) => {
  scenario(
    ["LEDG-17"],
    "status, help and new are answered while a run is going on, at top level and in threads",
    async () => {
      const heard: string[] = [];
      const listening = agent.fn(async (ctx) => {
        heard.push(ctx.text);
        return new Promise<string>(() => {});
      });
      for (const followUp of ["queue", "steer", "interrupt"] as const) {
        await using t = await gatewayOn(store, { agents: { listening }, followUp });
        for (const thread of [undefined, "t1"]) {
          const { run } = await t.post("work", { thread });
          await t.reached(run ?? "", (state) => state === "running");
          for (const text of ["status", "/status", " Status ", "STATUS"]) {
            const said = await t.say(text, { thread });
            expect(said).toMatchObject({
              state: "replied",
              run: null,
              text: expect.stringContaining("listening: working"),
            });
          }
          expect((await t.say("/help", { thread })).text).toContain("stop (or /stop)");
          expect((await t.say("new", { thread })).text).toContain("begin anew");
          expect(await t.run(run ?? "")).toMatchObject({ state: "running", reason: null });
        }
      }
      expect(new Set(heard)).toEqual(new Set(["work"]));
    },
  );

  scenario(["LEDG-17"], "stop ends what runs and waits in that place only, and says so", async () => {
    await using t = await gatewayOn(store, { agents: { forever } });
    const here = await t.post("1", { conversation: "a" });
    const queued = await t.post("2", { conversation: "a" });
    const thread = await t.post("3", { conversation: "a", thread: "t1" });
    const other = await t.post("4", { conversation: "b" });
    for (const { run } of [here, thread, other]) await t.reached(run ?? "", (state) => state === "running");

    const stopped = await t.say("stop", { conversation: "a" });

    expect(stopped.text).toBe("Stopped 2 runs.");
    expect(await t.ended(here.run ?? "")).toMatchObject({ state: "cancelled", reason: "cancel" });
    expect(await t.ended(queued.run ?? "")).toMatchObject({ state: "cancelled", attempts: 0 });
    for (const { run } of [thread, other]) expect(await t.run(run ?? "")).toMatchObject({ state: "running" });
    expect((await t.posts("web:main/a")).map(({ text }) => text)).toEqual(["Stopped 2 runs."]);

    expect((await t.say("/stop", { conversation: "a", thread: "t1" })).text).toBe("Stopped 1 run.");
    expect(await t.ended(thread.run ?? "")).toMatchObject({ state: "cancelled" });
    expect((await t.say("stop", { conversation: "a" })).text).toBe("Nothing is running here.");
    expect(await t.run(other.run ?? "")).toMatchObject({ state: "running" });
  });

  scenario(["LEDG-17"], "stop ends jobs of that place too, and the lane goes on afterwards", async () => {
    const boss = agent.fn(async (ctx) => {
      if (ctx.text === "hello") return "hello";
      await ctx.start("forever", "x");
      return "started";
    });
    await using t = await gatewayOn(store, { agents: { boss, forever } });
    await t.say("job");
    const [, job] = await t.runs();
    await t.reached(job?.id ?? "", (state) => state === "running");
    expect((await t.say("stop")).text).toBe("Stopped 1 run.");
    expect(await t.ended(job?.id ?? "")).toMatchObject({ state: "cancelled" });
    expect((await t.say("hello")).text).toBe("hello");
  });

  scenario(["LEDG-17"], "new begins a new memory there, and only there", async () => {
    await using t = await gatewayOn(store, { agents: { counting } });
    await t.say("x", { conversation: "a" });
    await t.say("x", { conversation: "b" });
    expect((await t.say("x", { conversation: "a" })).text).toBe("2 before");
    await t.say("new", { conversation: "a" });
    expect((await t.say("x", { conversation: "a" })).text).toBe("0 before");
    expect((await t.say("x", { conversation: "b" })).text).toBe("2 before");
    // What was said stays for people.
    expect((await t.messages("web:main/a")).filter(({ role }) => role === "user")).toHaveLength(4);
  });

  scenario(["LEDG-17"], "a long conversation is given its latest part and goes on", async () => {
    await using t = await gatewayOn(store, { agents: { counting }, memoryWindow: 5 });
    for (let n = 0; n < 12; n += 1) await t.say(`${n}`);
    expect((await t.say("x")).text).toBe("5 before");
  });

  scenario(["LEDG-17"], "a word inside a sentence is for the agent", async () => {
    const echo = agent.fn(async (ctx) => `heard ${ctx.text}`);
    const chat = recordingChannel({ kind: "chat" });
    await using t = await gatewayOn(store, { agents: { echo }, channels: [chat], locale: "ko" });
    for (const text of ["stop the deploy", "what is new", "status?", "//stop"]) {
      expect((await t.say(text)).text).toBe(`heard ${text}`);
    }
    // On every channel, in the language of the settings.
    const { turn } = await chat.receive("room", "/stop", { thread: "t1" });
    await t.settled(turn);
    expect(chat.posts("chat:test/room/t1").map(({ text }) => text)).toEqual([
      "여기에는 실행 중인 작업이 없습니다.",
    ]);
  });
});
