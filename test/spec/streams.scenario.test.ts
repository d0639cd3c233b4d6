/** One writer, one way out, every token once. */
import fc from "fast-check";
import { expect } from "vitest";
import { agent, type RunContext } from "../../src/index.ts";
import { manualClock } from "../../src/kernel/clock.ts";
import { memoryStreams } from "../../src/streams/memory/memory-streams.ts";
import { codeOf, head, readNow, text, textOf } from "../support/streams.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn, refusal } from "./support.ts";

scenario(
  ["STRM-5"],
  "a stream has one writer: the same or an older epoch, and one that was overtaken, are refused",
  async () => {
    const store = memoryStreams({ clock: manualClock() });
    const first = store.open(head("s", { epoch: 2 }));
    first.append(text("one "));
    for (const epoch of [1, 2])
      expect(await codeOf(async () => store.open(head("s", { epoch })))).toBe("stream_fenced");
    const second = store.open(head("s", { epoch: 3 }));
    expect(await codeOf(async () => first.append(text("late")))).toBe("stream_fenced");
    expect(await codeOf(() => first.close("completed", [text("late")]))).toBe("stream_fenced");
    second.append(text("two"));
    await second.close("completed", []);
    expect(textOf(await readNow(store, "s"))).toBe("one two");
  },
);

scenario(["STRM-5"], "reading never writes, whoever reads and how often", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const writer = store.open(head("s"));
  writer.append(text("one"));
  await writer.flush();
  for (let n = 0; n < 20; n += 1) await readNow(store, "s", { reader: "browser" });
  await writer.close("completed", []);
  const [counts] = store.counts("s");
  expect(counts?.events).toBe((await readNow(store, "s")).length);
  expect(textOf(await readNow(store, "s"))).toBe("one");
});

scenario(
  ["STRM-9"],
  "a stream whose reader stands still takes little more memory than its text",
  async () => {
    const store = memoryStreams({ clock: manualClock() });
    const writer = store.open(head("s"));
    const still = store.read("s", { reader: "still" })[Symbol.asyncIterator]();
    writer.append(text("first"));
    await still.next();
    const tokens = 200_000;
    for (let n = 0; n < tokens; n += 1) writer.append(text("0123456789"));
    // The text and 8 bytes a token, and a fixed part beside it; as it was appended it would be some 40 MB.
    expect(store.size().bytes).toBeLessThan(tokens * 18 + 3_000_000);
    await writer.close("completed", []);
    let received = "first".length;
    for (let next = await still.next(); !next.done; next = await still.next()) {
      received += textOf(next.value.events).length;
    }
    expect(received).toBe("first".length + tokens * 10);
  },
);

eachStore((store) => {
  scenario(["STRM-9"], "a reader that comes back continues after the last event it saw", async () => {
    const proceed = [gate(), gate(), gate()];
    let ran = 0;
    const talker = agent.fn(async function* () {
      ran += 1;
      for (const [n, one] of proceed.entries()) {
        yield `a${n} `;
        yield `b${n} `;
        await one.opened;
      }
    });
    await using t = await gatewayOn(store, { agents: { talker } });
    const { run } = await t.post("go");
    const whole = await t.stream(run ?? "");
    const texts: string[] = [];
    let after = 0;
    for (const [n, one] of proceed.entries()) {
      const part = await t.stream(run ?? "", after);
      await part.saw((chunk) => chunk["delta"] === `b${n} `);
      texts.push(part.text);
      after = part.next;
      part.leave();
      await part.ended;
      one.open();
    }
    const rest = await t.stream(run ?? "", after);
    await Promise.all([rest.ended, whole.ended]);
    expect(texts).toEqual(["a0 b0 ", "a1 b1 ", "a2 b2 "]);
    expect(rest.text).toBe("");
    expect(rest.chunks.map(({ type }) => type)).toContain("finish");
    expect(whole.deltas).toEqual(["a0 ", "b0 ", "a1 ", "b1 ", "a2 ", "b2 "]);
    expect(ran).toBe(1);
  });

  scenario(
    ["STRM-9"],
    "from any offset on, what was before and what is after is the whole, once",
    async () => {
      const talker = agent.fn(async function* (ctx) {
        for (let n = 0; n < Number(ctx.text); n += 1) yield `${n},`;
      });
      await using t = await gatewayOn(store, { agents: { talker } });
      await fc.assert(
        fc.asyncProperty(fc.nat(60), fc.nat(1_000), async (tokens, cut) => {
          const { run } = await t.post(`${tokens}`);
          const whole = await t.stream(run ?? "");
          await whole.ended;
          const after = cut % (whole.next + 1);
          const rest = await t.stream(run ?? "", after);
          await rest.ended;
          expect(rest.chunks).toEqual(whole.chunks.slice(after));
          expect(rest.next).toBe(whole.next);
        }),
        { numRuns: 10 },
      );
    },
  );

  scenario(
    ["STRM-9"],
    "a reader that stands still holds up neither the writer nor other readers",
    async () => {
      const talker = agent.fn(async function* () {
        for (let n = 0; n < 20_000; n += 1) yield "0123456789";
      });
      await using t = await gatewayOn(store, { agents: { talker } });
      const { run, stream } = await t.post("go");
      // This one takes nothing of its answer until the end.
      const still = await t.fetch(`/v1/stream/${stream}?live=sse&offset=-1`);
      const quick = await t.stream(run ?? "");
      await t.ended(run ?? "");
      await quick.ended;
      expect(quick.text).toHaveLength(200_000);
      let received = 0;
      for (const line of (await still.text()).split("\n")) {
        if (!line.startsWith("data: {") || !line.includes('"text-delta"')) continue;
        const { chunk } = JSON.parse(line.slice("data: ".length).replace(/,$/, "")) as {
          chunk: { delta: string };
        };
        received += chunk.delta.length;
      }
      expect(received).toBe(200_000);
    },
  );

  scenario(
    ["STRM-9", "STRM-10"],
    "after a restart a reader gets the committed answer, and no second run begins",
    async () => {
      let ran = 0;
      const talker = agent.fn(async function* () {
        ran += 1;
        yield "one ";
        yield "two";
      });
      await using t = await gatewayOn(store, { agents: { talker } });
      const { run } = await t.post("go");
      const before = await t.stream(run ?? "");
      await before.ended;
      await t.restart();
      for (const after of [0, before.next]) {
        const again = await t.stream(run ?? "", after);
        await again.ended;
        expect(again.text).toBe("one two");
        expect(again.chunks.map(({ type }) => type).slice(-2)).toEqual(["finish", "data-stream-end"]);
      }
      expect(ran).toBe(1);
    },
  );

  scenario(["STRM-10"], "nothing is added after the end, whatever the agent still does", async () => {
    const contexts: RunContext[] = [];
    const late = agent.fn(async function* (ctx) {
      contexts.push(ctx);
      yield "the answer";
    });
    await using t = await gatewayOn(store, { agents: { late } });
    const said = await t.say("go");
    const [ctx] = contexts;
    if (!ctx) throw new Error("it never ran");
    const tries = [
      () => Promise.resolve(ctx.stream.text(" and more")),
      () => Promise.resolve(ctx.stream.data("x", 1)),
      () => ctx.say("late"),
      () => ctx.send(undefined, "late"),
      () => ctx.progress("late"),
      () => ctx.start("late", "late"),
      () => ctx.checkpoint(1),
      () => ctx.takeSteering(),
    ];
    for (const one of tries) expect((await refusal(async () => one())).code).toBe("run_lost");
    const stream = await t.stream(said.run ?? "");
    await stream.ended;
    expect(stream.text).toBe("the answer");
    expect((await t.posts()).map(({ text: answer }) => answer)).toEqual(["the answer"]);
    expect(await t.runs()).toHaveLength(1);
    expect((await t.run(said.run ?? "")).progress).toBeNull();
  });

  scenario(
    ["STRM-10"],
    "an error that comes after the answer, or after a stop, changes nothing",
    async () => {
      const [working, isOver, hasTried] = [gate(), gate(), gate()];
      const breaker = agent.fn(async function* (ctx) {
        if (ctx.text === "unawaited") {
          void isOver.opened.then(() => {
            void ctx.say("late");
            hasTried.open();
          });
        }
        yield "half";
        if (ctx.text !== "hang") return;
        working.open();
        ctx.signal.addEventListener("abort", () => void ctx.say("after the stop"));
        await new Promise((_, reject) =>
          ctx.signal.addEventListener("abort", () => reject(new Error("aborted"))),
        );
      });
      await using t = await gatewayOn(store, { agents: { breaker } });
      const { run } = await t.post("hang", { conversation: "a" });
      await working.opened;
      const stream = await t.stream(run ?? "");
      await t.cancel(run ?? "");
      expect(await t.ended(run ?? "")).toMatchObject({ state: "cancelled", reason: "cancel" });
      await stream.ended;
      expect(stream.chunks.map(({ type }) => type)).toContain("abort");
      expect(stream.chunks.map(({ type }) => type)).not.toContain("error");
      // A promise that an agent leaves behind ends neither the gateway nor the answer.
      expect(await t.say("unawaited", { conversation: "b" })).toMatchObject({
        state: "completed",
        text: "half",
      });
      isOver.open();
      await hasTried.opened;
      expect(await t.say("next", { conversation: "b" })).toMatchObject({ state: "completed", text: "half" });
      expect((await t.posts("web:main/b")).map((post) => post.text)).toEqual(["half", "half"]);
    },
  );

  scenario(["STRM-10"], "the stream of a run that is cancelled before it begins ends too", async () => {
    const forever = agent.fn(() => new Promise<string>(() => {}));
    // With time that stands still only the hint of its end can end it.
    const clock = manualClock();
    await using t = await gatewayOn(store, { agents: { forever } }, { clock });
    await t.post("1");
    const queued = await t.post("2");
    const stream = await t.stream(queued.run ?? "");
    await t.cancel(queued.run ?? "");
    await stream.ended;
    expect(stream.chunks.map(({ type }) => type)).toEqual(["start", "abort", "data-stream-end"]);
  });
});
