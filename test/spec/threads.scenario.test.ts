/** Answers that open a thread, and messages that people change or take back. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import { recordingChannel } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gates, gatewayOn } from "./support.ts";

const [root, thread] = ["chat:test/room", "chat:test/room/m1"];
const opens = { kind: "channel", id: "m1", answerIn: "m1" } as const;

eachStore((store) => {
  scenario(
    ["LEDG-1", "LEDG-5", "LEDG-6", "ADDR-9"],
    "an answer that opens a thread goes there; the thread finds its run, has its memory, and is a lane of its own",
    async () => {
      const at = gates();
      const remembering = agent.fn(async (ctx) => {
        await at(ctx.text).opened;
        return `${ctx.text} after ${ctx.history.map(({ text }) => text).join(", ") || "nothing"}`;
      });
      const chat = recordingChannel({ kind: "chat" });
      await using t = await gatewayOn(store, { agents: { remembering }, channels: [chat] });
      const first = await chat.receive("room", "one", opens);
      const second = await chat.receive("room", "two", { kind: "channel", id: "m2", answerIn: "m2" });
      for (const { run } of [first, second]) await t.reached(run ?? "", (state) => state === "running");
      expect(await t.run(first.run ?? "")).toMatchObject({ origin: root, replyTo: thread });
      const status = await chat.receive("room", "status", { kind: "channel", thread: "m1" });
      at("one").open();
      at("two").open();
      await t.settled();
      await chat.attempted(3);
      const followUp = await chat.receive("room", "more", { kind: "channel", thread: "m1" });
      at("more").open();
      await t.ended(followUp.run ?? "");
      await t.settled();

      expect(status.address).toBe(thread);
      const [told, ...answers] = chat.posts(thread).map(({ text }) => text);
      expect(told).toContain("remembering: working");
      expect(answers).toEqual(["one after nothing", "more after one, one after nothing"]);
      expect(chat.posts("chat:test/room/m2").map(({ text }) => text)).toEqual(["two after nothing"]);
      expect(chat.posts(root)).toEqual([]);
    },
  );

  scenario(["LEDG-17", "ADDR-9"], "a word at top level is answered in the thread that it opens", async () => {
    const forever = agent.fn(() => new Promise<string>(() => {}));
    const chat = recordingChannel({ kind: "chat" });
    await using t = await gatewayOn(store, { agents: { forever }, channels: [chat] });
    const { run } = await chat.receive("room", "work", opens);
    await t.reached(run ?? "", (state) => state === "running");
    const word = { kind: "channel", id: "m2", answerIn: "m2" } as const;
    await chat.receive("room", "status", word);
    await chat.attempted(1);
    expect(chat.posts("chat:test/room/m2").map(({ text }) => text)).toEqual([
      expect.stringContaining("forever: working"),
    ]);
    await chat.receive("room", "stop", { kind: "channel", thread: "m1" });
    expect(await t.ended(run ?? "")).toMatchObject({ state: "cancelled" });
  });

  scenario(
    ["LEDG-13", "LEDG-16", "SECU-1"],
    "a question that is changed before its turn is answered as it is now; only its sender changes it",
    async () => {
      const at = gates();
      const heard: string[] = [];
      const slow = agent.fn(async (ctx) => {
        heard.push(ctx.text);
        await at(ctx.message.id).opened;
        return `about ${ctx.text}`;
      });
      const chat = recordingChannel({ kind: "chat", allow: { senders: ["tester", "other"] } });
      await using t = await gatewayOn(store, { agents: { slow }, channels: [chat] });
      const running = await chat.receive("room", "first", { id: "m1" });
      await t.reached(running.run ?? "", (state) => state === "running");
      const waiting = await chat.receive("room", "secnod", { id: "m2" });

      expect(await chat.amend("room", "m2", "stolen", { sender: "other" })).toBe("unknown");
      expect(await chat.amend("room", "m2", "stolen", { sender: "stranger" })).toBe("unknown");
      expect(await chat.amend("room", "m9", "nothing")).toBe("unknown");
      expect(await chat.amend("room", "m2", "second")).toBe("run");
      expect(await chat.amend("room", "m2", "second")).toBe("record");
      expect(await chat.amend("room", "m1", "changed too late")).toBe("record");
      // The platform tells the first form again: nothing is made twice, and nothing is undone.
      expect(await chat.receive("room", "secnod", { id: "m2" })).toMatchObject({
        run: waiting.run,
        repeated: true,
      });
      for (const { message } of [running, waiting]) at(message).open();
      await t.ended(waiting.run ?? "");
      await t.settled();

      expect(heard).toEqual(["first", "second"]);
      expect(chat.posts("chat:test/room").map(({ text }) => text)).toEqual(["about first", "about second"]);
      const said = (await t.messages("chat:test/room")).filter(({ role }) => role === "user");
      expect(said.map(({ text }) => text)).toEqual(["changed too late", "second"]);
      expect((await t.events(waiting.run ?? "")).map(({ kind }) => kind)).toContain("amended");
    },
  );

  scenario(
    ["LEDG-15", "SECU-1"],
    "a question that is taken back is not answered, told to nobody, and not remembered",
    async () => {
      const at = gates();
      const slow = agent.fn(async (ctx) => {
        await Promise.race([
          at(ctx.text).opened,
          new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve())),
        ]);
        return ctx.history.map(({ text }) => text).join(", ") || "nothing";
      });
      const chat = recordingChannel({ kind: "chat" });
      await using t = await gatewayOn(store, { agents: { slow }, channels: [chat] });
      const running = await chat.receive("room", "a secret", { id: "m1" });
      await t.reached(running.run ?? "", (state) => state === "running");
      const waiting = await chat.receive("room", "another", { id: "m2" });

      expect(await chat.withdraw("room", "m1", { sender: "other" })).toBe("unknown");
      expect(await chat.withdraw("room", "m2")).toBe("run");
      expect(await chat.withdraw("room", "m1")).toBe("run");
      expect(await t.ended(running.run ?? "")).toMatchObject({ state: "cancelled", reason: "withdrawn" });
      expect(await t.run(waiting.run ?? "")).toMatchObject({ state: "cancelled", attempts: 0 });
      at("what do you know?").open();
      const last = await chat.receive("room", "what do you know?", { id: "m3" });
      await t.ended(last.run ?? "");
      await t.settled();

      expect(chat.posts("chat:test/room").map(({ text }) => text)).toEqual(["nothing"]);
      expect(await chat.withdraw("room", "m1")).toBe("record");
      const said = (await t.messages("chat:test/room")).map(({ text }) => text);
      expect(JSON.stringify(said)).not.toContain("secret");
    },
  );
});
