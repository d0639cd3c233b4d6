/** An outbox: receipts, order, retries, dead letters, and what cannot be known. */
import fc from "fast-check";
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import {
  recordingChannel,
  type RecordingChannelOptions,
  type ScriptedOutcome,
} from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn, refusal } from "./support.ts";

const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);
const room = "chat:test/room";

eachStore((store) => {
  /** A gateway with one recording channel, `chat`. */
  async function chatting(options: Partial<RecordingChannelOptions> = {}, retry = {}) {
    const chat = recordingChannel({ kind: "chat", ...options });
    const t = await gatewayOn(store, { agents: { echo }, channels: [chat] }, { retry });
    return { chat, t };
  }

  scenario(
    ["LEDG-14"],
    "delivered means a receipt; a long answer keeps the receipt of each piece",
    async () => {
      const { chat, t } = await chatting({ limit: 10 });
      await using _ = t;
      const { turn } = await t.say("a long question", { address: room });
      const [delivery] = await t.deliveries({ turn });
      const posts = chat.posts(room);
      expect(posts.map(({ text }) => text)).toEqual(["You said: ", "a long que", "stion"]);
      expect(delivery).toMatchObject({ state: "delivered", attempts: 3 });
      expect(delivery?.receipts).toEqual(
        posts.map(({ id }, part) => ({ part, platformId: id, permalink: `https://platform.test/${id}` })),
      );
    },
  );

  scenario(["LEDG-14"], "an attempt that hangs leaves the delivery on its way, not delivered", async () => {
    const { chat, t } = await chatting({}, { timeoutMs: 60_000 });
    await using _ = t;
    chat.script({ kind: "hang" });
    const { turn } = await t.post("hi", { address: room });
    await chat.attempted(1);
    const [delivery] = await t.deliveries({ turn });
    expect(delivery).toMatchObject({ state: "sending", receipts: [] });
    expect(await t.posts(room)).toEqual([]);
    chat.release();
    await t.settled(turn);
  });

  scenario(
    ["LEDG-14"],
    "ops of one address go in order, over retries; another address does not wait",
    async () => {
      const { chat, t } = await chatting({}, { attempts: 20, mostMs: 5 });
      await using _ = t;
      const busy: ScriptedOutcome = { kind: "retry", reason: "busy" };
      await fc.assert(
        fc.asyncProperty(
          // Fewer that bring a message to its end than there are messages: what is scripted is used up by them.
          fc
            .array(fc.constantFrom("sent", "retry", "unclear", "done"), { maxLength: 8 })
            .filter((fates) => fates.filter((fate) => fate === "sent" || fate === "done").length < 4),
          async (fates) => {
            const before = chat.posts(room).length;
            chat.script(
              ...fates.map((fate): ScriptedOutcome => {
                if (fate === "sent") return { kind: "sent" };
                return fate === "retry" ? busy : { kind: "unclear", done: fate === "done" };
              }),
            );
            for (const text of ["1", "2", "3", "4"]) await t.send(room, text);
            await t.settled();
            expect(
              chat
                .posts(room)
                .slice(before)
                .map(({ text }) => text),
            ).toEqual(["1", "2", "3", "4"]);
          },
        ),
        { numRuns: 15 },
      );
      chat.script({ kind: "hang" });
      const hanging = chat.attempted(chat.attempts.length + 1);
      await t.send(room, "hangs");
      await hanging;
      await t.say("meanwhile", { address: "chat:test/other" });
      expect(chat.posts("chat:test/other").map(({ text }) => text)).toEqual(["You said: meanwhile"]);
      chat.release();
      await t.settled();
    },
  );

  scenario(["LEDG-14"], "what the platform asks to wait is waited", async () => {
    const { chat, t } = await chatting();
    await using _ = t;
    const hour = 3_600_000;
    chat.script({ kind: "retry", reason: "slow down", afterMs: hour });
    const { turn } = await t.post("hi", { address: room });
    const waiting = await t.until("a pause", async () => {
      const [delivery] = await t.deliveries({ turn });
      return delivery?.reason === "slow down" && delivery;
    });
    const asked = (await t.messages(room)).find((message) => message.turn === turn);
    expect(waiting.nextAt).toBeGreaterThanOrEqual((asked?.at ?? 0) + hour);
    // Others of the channel go on, and nothing behind it overtakes it.
    await t.post("behind it", { address: room });
    await t.say("meanwhile", { address: "chat:test/other" });
    expect(chat.attempts.map(({ op }) => [op.address.conversation, op.attempt])).toEqual([
      ["room", 1],
      ["other", 1],
    ]);
  });

  scenario(["LEDG-14"], "pauses grow, and every attempt has the same key", async () => {
    const chat = recordingChannel({ kind: "chat" });
    const retry = { attempts: 4, firstMs: 50, mostMs: 60_000 };
    const options = { retry, random: () => 1 };
    await using t = await gatewayOn(store, { agents: { echo }, channels: [chat] }, options);
    chat.script({ kind: "retry", reason: "busy" }, { kind: "retry", reason: "busy" }, { kind: "throw" });
    const { turn } = await t.post("hi", { address: room });
    const due: number[] = [];
    for (let attempts = 1; attempts <= 3; attempts += 1) {
      const next = await t.until("a pause", async () => {
        const [delivery] = await t.deliveries({ turn });
        return delivery?.attempts === attempts && delivery.reason !== null && delivery.nextAt;
      });
      due.push(next);
    }
    await t.settled(turn);
    const pauses = due.slice(1).map((at, n) => at - (due[n] ?? 0));
    expect(pauses[0]).toBeGreaterThanOrEqual(100);
    expect(pauses[1]).toBeGreaterThanOrEqual(200);
    expect(chat.attempts.map(({ op }) => op.attempt)).toEqual([1, 2, 3, 4]);
    expect(new Set(chat.attempts.map(({ op }) => op.key)).size).toBe(1);
    expect(await t.deliveries({ turn })).toMatchObject([{ state: "delivered", attempts: 4 }]);
    expect(chat.posts(room)).toHaveLength(1);
  });

  scenario(["LEDG-14"], "retries end in a dead letter that can be seen and sent again by hand", async () => {
    const { chat, t } = await chatting({}, { attempts: 3 });
    await using _ = t;
    chat.script(...Array.from({ length: 3 }, (): ScriptedOutcome => ({ kind: "retry", reason: "busy" })));
    const { turn, run } = await t.say("hi", { address: room });
    const [dead] = await t.deliveries({ turn });
    expect(dead).toMatchObject({ state: "dead", reason: "gave up after 3 attempts: busy", receipts: [] });
    expect(await t.run(run ?? "")).toMatchObject({ state: "completed", postedIn: null });
    // What comes after it is not held up.
    await t.say("next", { address: room });
    expect(chat.posts(room).map(({ text }) => text)).toEqual(["You said: next"]);
    await t.restart();
    expect(chat.posts(room)).toHaveLength(1);

    const again = await t.redeliver(dead?.id ?? "");

    expect(again.state).toBe("delivered");
    expect(chat.posts(room).map(({ text }) => text)).toEqual(["You said: next", "You said: hi"]);
    expect(await t.run(run ?? "")).toMatchObject({ postedIn: room });
    expect(await refusal(() => t.redeliver(dead?.id ?? ""))).toMatchObject({
      code: "delivery_not_retryable",
    });
    expect(await refusal(() => t.redeliver("dlv_none"))).toMatchObject({ code: "unknown_delivery" });
  });

  scenario(["LEDG-14"], "what the platform will never take is a dead letter at once", async () => {
    const { chat, t } = await chatting({ limit: 10 });
    await using _ = t;
    chat.script({ kind: "refused", reason: "too rude" });
    const { turn } = await t.say("a long question", { address: room });
    expect(await t.deliveries({ turn })).toMatchObject([{ state: "dead", reason: "too rude" }]);
    // The other pieces of a text whose beginning is missing are not posted either.
    expect(chat.attempts).toHaveLength(1);
  });

  scenario(
    ["LEDG-14"],
    "an attempt whose answer never came is looked up before anything is sent again",
    async () => {
      const { chat, t } = await chatting();
      await using _ = t;
      chat.script({ kind: "unclear", done: true });
      const first = await t.say("one", { address: room });
      expect(chat.attempts).toHaveLength(1);
      chat.script({ kind: "unclear", done: false });
      const second = await t.say("two", { address: room });
      expect(chat.attempts).toHaveLength(3);
      expect(chat.posts(room).map(({ text }) => text)).toEqual(["You said: one", "You said: two"]);
      for (const { turn } of [first, second]) {
        const [delivery] = await t.deliveries({ turn });
        expect(delivery).toMatchObject({ state: "delivered" });
        expect(delivery?.receipts).toHaveLength(1);
      }
    },
  );

  scenario(
    ["ADDR-9", "LEDG-14"],
    "a place that is closed between two attempts gets nothing more",
    async () => {
      const { chat, t } = await chatting();
      await using _ = t;
      chat.script({ kind: "retry", reason: "busy", afterMs: 50 });
      const { turn } = await t.post("hi", { address: room });
      await chat.attempted(1);
      chat.forbid(room);
      await t.settled(turn);
      expect(chat.attempts).toHaveLength(1);
      expect(chat.posts()).toEqual([]);
      const [delivery] = await t.deliveries({ turn });
      expect(delivery).toMatchObject({ state: "blocked", reason: "the operator has closed this place" });
      expect(delivery?.address).toBe(room);
    },
  );

  scenario(
    ["LEDG-14"],
    "what nobody can tell is unknown, visible, and never silently sent again",
    async () => {
      const { chat, t } = await chatting({ reconcile: "unknown" });
      await using _ = t;
      chat.script({ kind: "unclear", done: true });
      const { turn, run } = await t.say("hi", { address: room });
      const [delivery] = await t.deliveries({ turn });
      expect(delivery).toMatchObject({
        state: "unknown",
        reason: "this platform cannot be asked",
        receipts: [],
      });
      await t.restart();
      await t.say("next", { address: room });
      expect(chat.posts(room).map(({ text }) => text)).toEqual(["You said: hi", "You said: next"]);
      expect(await t.deliveries({ turn })).toMatchObject([{ state: "unknown" }]);
      expect(await t.run(run ?? "")).toMatchObject({ postedIn: null });
    },
  );

  scenario(
    ["LEDG-14"],
    "a send that was under way when the gateway stopped is settled after the start",
    async () => {
      const { chat, t } = await chatting({}, { timeoutMs: 100 });
      await using _ = t;
      chat.script({ kind: "hang" });
      const { turn } = await t.post("hi", { address: room });
      await chat.attempted(1);
      await t.restart();
      await t.settled();
      expect(chat.posts(room).map(({ text }) => text)).toEqual(["You said: hi"]);
      expect(await t.deliveries({ turn })).toMatchObject([{ state: "delivered" }]);
    },
  );

  scenario(
    ["LEDG-14", "STRM-10"],
    "a preview and its answer are one post; without an answer it goes away",
    async () => {
      const chat = recordingChannel({ kind: "chat", can: { preview: true } });
      const finish = gate();
      const agents = {
        slow: agent.fn(async (ctx) => {
          await finish.opened;
          if (ctx.text === "silent") return ctx.silent();
          if (ctx.text === "fail") throw new Error("no");
          return `answer to ${ctx.text}`;
        }),
      };
      await using t = await gatewayOn(store, { agents, channels: [chat] });
      const asked = await t.post("x", { address: room });
      await chat.attempted(1);
      expect(chat.posts(room)).toMatchObject([{ id: "p-1", text: "… working", edits: 0 }]);
      finish.open();
      await t.settled();
      expect(chat.posts(room)).toMatchObject([{ id: "p-1", text: "answer to x", edits: 1 }]);
      expect(await t.deliveries({ turn: asked.turn })).toMatchObject([
        { kind: "final", state: "delivered", receipts: [{ part: 0, platformId: "p-1" }] },
      ]);

      const silent = await t.say("silent", { address: room });
      expect(silent.text).toBe("");
      expect(chat.posts(room).map(({ id }) => id)).toEqual(["p-1"]);
      expect(await t.run(silent.run ?? "")).toMatchObject({ state: "completed", postedIn: null });

      const failed = await t.say("fail", { address: room });
      expect(chat.posts(room)).toMatchObject([{ id: "p-1" }, { text: failed.text, edits: 1 }]);
    },
  );
});
