/** Agents and people at their worst: whatever they do, a run ends in one state, once, and its place goes on. */
import { expect } from "vitest";
import { agent, type RunContext } from "../../src/index.ts";
import { manualClock } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn, refusal } from "./support.ts";

type Fn = Parameters<typeof agent.fn>[0];

eachStore((store) => {
  scenario(
    ["LEDG-1", "AGNT-1"],
    "an agent that throws, or gives what is no answer, fails by name and its place goes on",
    async () => {
      const unshowable = Object.create(null) as object;
      const worst: [Fn, string, string][] = [
        [
          () => {
            throw new Error("sync");
          },
          "agent_failed",
          "run.failed",
        ],
        [
          async () => {
            throw new TypeError("async");
          },
          "agent_failed",
          "run.failed",
        ],
        [
          async () => {
            await Promise.reject(undefined);
          },
          "agent_failed",
          "run.failed",
        ],
        [
          async () => {
            await Promise.reject("a text");
          },
          "agent_failed",
          "run.failed",
        ],
        [
          async () => {
            await Promise.reject(unshowable);
          },
          "agent_failed",
          "run.failed",
        ],
        [
          async function* () {
            yield "half";
            throw new Error("then");
          },
          "agent_failed",
          "run.failed",
        ],
        [async () => 42 as never, "agent_bad_output", "run.bad_output"],
        [
          async function* () {
            yield { no: "text" } as never;
          },
          "agent_bad_output",
          "run.bad_output",
        ],
        [async () => new Map() as never, "agent_bad_output", "run.bad_output"],
        [
          async function* () {
            for (;;) yield "x".repeat(100_000);
          },
          "agent_output_too_large",
          "run.too_large",
        ],
        [() => "x".repeat(1_048_577), "agent_output_too_large", "run.too_large"],
        [
          async (ctx) => {
            await ctx.say("");
          },
          "invalid_request",
          "run.failed",
        ],
        [
          async (ctx) => {
            await ctx.start("nobody", "x");
          },
          "unknown_agent",
          "run.failed",
        ],
        [
          async (ctx) => {
            await ctx.send("nowhere", "x");
          },
          "invalid_address",
          "run.failed",
        ],
      ];
      const agents = {
        good: agent.fn(async () => "good"),
        ...Object.fromEntries(worst.map(([fn], n) => [`bad${n}`, agent.fn(fn)])),
      };
      await using t = await gatewayOn(store, { agents });
      for (const [n, [, reason, notice]] of worst.entries()) {
        const said = await t.say("go", { agent: `bad${n}` });
        expect({
          n,
          state: said.state,
          reason: said.reason,
          posts: said.posts.map((post) => post.notice),
        }).toEqual({
          n,
          state: "failed",
          reason,
          posts: [notice],
        });
        expect(said.text).not.toMatch(/\n| at |Error/);
      }
      expect((await t.say("go")).text).toBe("good");
    },
  );

  scenario(
    ["LEDG-1", "AGNT-1"],
    "texts of any shape are kept: NUL, half a surrogate, a megabyte less one",
    async () => {
      const long = "가".repeat(999_999);
      const odd = agent.fn(async (ctx) => {
        if (ctx.text === "long") return long;
        await ctx.say("said \0 so");
        await ctx.progress("at \0 half");
        await ctx.checkpoint({ at: "\0 \ud800" });
        ctx.stream.data("odd", "\0 \ud800");
        return "nul \0, half \ud800, done";
      });
      await using t = await gatewayOn(store, { agents: { odd } });
      const said = await t.say("go");
      expect(said).toMatchObject({ state: "completed" });
      expect(said.posts.map(({ text }) => text.replaceAll("\ud800", "\ufffd"))).toEqual([
        "said \ufffd so",
        "nul \ufffd, half \ufffd, done",
      ]);
      expect((await t.say("long")).text).toBe(long);
    },
  );

  scenario(
    ["LEDG-1", "ADDR-12"],
    "ids of any length are kept or refused by name, and it goes on",
    async () => {
      const echo = agent.fn(async (ctx) => ctx.text);
      await using t = await gatewayOn(store, { agents: { echo } });
      // Letters that no database can press together.
      const letters = (count: number, step: number) =>
        Array.from({ length: count }, (_, n) =>
          String.fromCodePoint(0x4e00 + ((n * n * step + n * 7_919) % 20_000)),
        ).join("");
      for (const count of [100, 200, 400, 512]) {
        const place = {
          conversation: letters(count, 31),
          thread: letters(count, 37),
          id: letters(count, 41),
        };
        const came = await t.say("hi", place).then(
          ({ text }) => text,
          (error: { code?: string }) => error.code,
        );
        expect(["hi", "invalid_request"]).toContain(came);
        expect(count > 200 || came === "hi").toBe(true);
      }
      const tooLong = await refusal(() => t.post("hi", { conversation: "x".repeat(513) }));
      expect(tooLong.code).toBe("invalid_address");
      expect((await t.say("still there?")).text).toBe("still there?");
    },
  );

  scenario(
    ["LEDG-1", "LEDG-17"],
    "an agent that never ends after a stop is left behind, and its lane goes on",
    async () => {
      const contexts: RunContext[] = [];
      const stubborn = agent.fn(async (ctx) => {
        contexts.push(ctx);
        if (ctx.text === "next") return "next answered";
        for (;;) await new Promise(() => {});
      });
      await using t = await gatewayOn(store, { agents: { stubborn } });
      const { run } = await t.post("hang");
      await t.reached(run ?? "", (state) => state === "running");
      await t.until("the agent", async () => contexts.length === 1);
      expect((await t.say("stop")).text).toBe("Stopped 1 run.");
      expect(await t.ended(run ?? "")).toMatchObject({ state: "cancelled" });
      expect(contexts[0]?.signal.aborted).toBe(true);
      expect((await t.say("next")).text).toBe("next answered");
    },
  );

  scenario(
    ["LEDG-1"],
    "a cancel is right in each state: queued, running, ended, unknown, and twice",
    async () => {
      const finish = gate();
      const slow = agent.fn(async (ctx) => {
        await Promise.race([finish.opened, new Promise((r) => ctx.signal.addEventListener("abort", r))]);
        return "ended";
      });
      await using t = await gatewayOn(store, { agents: { slow } });
      const running = await t.post("1");
      const queued = await t.post("2");
      const third = await t.post("3");
      await t.reached(running.run ?? "", (state) => state === "running");
      await t.cancel(queued.run ?? "");
      expect(await t.run(queued.run ?? "")).toMatchObject({
        state: "cancelled",
        reason: "cancel",
        startedAt: null,
      });
      await Promise.all([t.cancel(running.run ?? ""), t.cancel(running.run ?? "")]);
      expect(await t.ended(running.run ?? "")).toMatchObject({ state: "cancelled", reason: "cancel" });
      finish.open();
      await t.ended(third.run ?? "");
      for (const { run } of [running, queued, third]) {
        expect(await refusal(() => t.cancel(run ?? ""))).toMatchObject({ code: "run_finished" });
      }
      expect(await refusal(() => t.cancel("run_none"))).toMatchObject({ code: "unknown_run" });
      expect((await t.posts()).map(({ text }) => text)).toEqual(["ended"]);
      const kinds = (await t.events(running.run ?? "")).map(({ kind }) => kind);
      expect(kinds).toEqual(["queued", "claimed", "abort_asked", "cancelled"]);
    },
  );

  scenario(
    ["LEDG-1"],
    "a cancel that races the end leaves one state, and the answer only where it completed",
    async () => {
      const echo = agent.fn(async (ctx) => `answer ${ctx.text}`);
      await using t = await gatewayOn(store, { agents: { echo } });
      const runs = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const { run } = await t.post(`${n}`, { conversation: `c${n}` });
          for (let turns = 0; turns < n % 8; turns += 1) await new Promise(setImmediate);
          await t.cancel(run ?? "").catch(() => {});
          return t.ended(run ?? "");
        }),
      );
      await t.settled();
      for (const { id, state, replyTo } of runs) {
        const posts = await t.posts(replyTo);
        expect(state === "completed" || state === "cancelled").toBe(true);
        expect(posts).toHaveLength(state === "completed" ? 1 : 0);
        const last = (await t.events(id)).at(-1);
        expect(last?.kind).toBe(state);
      }
    },
  );

  scenario(
    ["ADDR-1", "LEDG-2"],
    "a send to its own place is a message there, and starts the jobs that it tells of",
    async () => {
      const boss = agent.fn(async (ctx) => {
        await ctx.start("worker", "x");
        await ctx.send(ctx.address, "I have started it.");
        return ctx.silent();
      });
      const worker = agent.fn(async () => "the result");
      await using t = await gatewayOn(store, { agents: { boss, worker } });
      const { address } = await t.say("go", { conversation: "c", thread: "t1", kind: "channel" });
      await t.settled();
      expect((await t.posts(address)).map(({ text }) => text)).toEqual(["I have started it.", "the result"]);
      const rules = (await t.deliveries({ address })).map(({ kind, rule }) => `${kind} ${rule}`);
      expect(rules).toEqual(["send explicit", "final turn"]);
    },
  );

  scenario(
    ["LEDG-13"],
    "an answer wished anew is a new turn; what the person said is not posted twice",
    async () => {
      let ran = 0;
      const counter = agent.fn(async () => {
        ran += 1;
        return `answer ${ran}`;
      });
      await using t = await gatewayOn(store, { agents: { counter } });
      await t.say("question", { id: "m1" });
      const again = await t.say("question", { id: "regenerate-m1", regenerate: true });
      expect(again.text).toBe("answer 2");
      expect(await t.say("question", { id: "regenerate-m1", regenerate: true })).toMatchObject({
        repeated: true,
      });
      expect(ran).toBe(2);
      expect((await t.messages()).map(({ text }) => text)).toEqual(["question", "answer 1", "answer 2"]);
    },
  );

  scenario(
    ["AGNT-4", "LEDG-1"],
    "whichever asked first decides: a stop before the deadline, a deadline before the stop",
    async () => {
      const clock = manualClock();
      const hang = agent.fn(() => new Promise<string>(() => {}));
      await using t = await gatewayOn(
        store,
        { agents: { hang }, limits: { run: { wallMs: 1_000 } } },
        { clock },
      );
      const first = await t.post("1", { conversation: "a" });
      await t.reached(first.run ?? "", (state) => state === "running");
      await t.cancel(first.run ?? "");
      clock.advance(1_000);
      expect(await t.ended(first.run ?? "")).toMatchObject({ state: "cancelled", reason: "cancel" });
      const second = await t.post("2", { conversation: "b" });
      await t.reached(second.run ?? "", (state) => state === "running");
      await t.until("the deadline", async () => {
        clock.advance(1_000);
        return (await t.run(second.run ?? "")).abortCause === "deadline";
      });
      await t.cancel(second.run ?? "").catch(() => {});
      expect(await t.ended(second.run ?? "")).toMatchObject({ state: "failed", reason: "deadline_exceeded" });
      expect((await t.posts("web:main/b")).map(({ notice }) => notice)).toEqual(["run.deadline"]);
    },
  );
});
