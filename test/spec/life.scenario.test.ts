/** People see life: that somebody works on it, the answer as it is written, and then the answer in the same post. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import { recordingChannel } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gates, gatewayOn } from "./support.ts";

const can = { edit: true, delete: true, preview: true };

eachStore((store) => {
  scenario(
    ["CHAN-3", "STRM-10"],
    "an answer is shown as it is written, one call at a time, and finished in the same post",
    async () => {
      const at = gates();
      const shown: string[] = [];
      const working: [string, AbortSignal][] = [];
      const writer = agent.fn(async function* () {
        yield "one";
        await at("one").opened;
        yield " two";
        await at("one two").opened;
        yield " three";
      });
      const live = {
        everyMs: 1,
        working: (address: { conversation: string }, signal: AbortSignal) =>
          void working.push([address.conversation, signal]),
        show: async ({ text }: { text: string }) => {
          shown.push(text);
          at(text).open();
        },
      };
      const chat = recordingChannel({ kind: "chat", can, live });
      await using t = await gatewayOn(store, { agents: { writer }, channels: [chat] });
      const { run } = await chat.receive("room", "hi");
      await t.ended(run ?? "");
      await t.settled();
      expect(shown.slice(0, 2)).toEqual(["one", "one two"]);
      expect(chat.posts().map(({ text }) => text)).toEqual(["one two three"]);
      expect(chat.attempts.map(({ op }) => op.kind)).toEqual(["create", "edit"]);
      expect(working.map(([room, signal]) => [room, signal.aborted])).toEqual([["room", true]]);
    },
  );

  scenario(
    ["STRM-10", "CHAN-3"],
    "a call that is still on its way is ended before the answer is sent; one that fails costs nothing",
    async () => {
      const at = gates();
      const order: string[] = [];
      const writer = agent.fn(async function* (ctx) {
        yield ctx.text;
        await at(ctx.text).opened;
        yield " and the end";
      });
      const live = {
        everyMs: 1,
        show: async ({ text, target }: { text: string; target: string }, signal: AbortSignal) => {
          order.push(`show ${text}`);
          at(text).open();
          if (text === "fails") throw new Error("the platform is busy");
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          order.push(`${target === "" ? "no post" : "post"}, ended; ${chat.attempts.length} ops`);
        },
      };
      const chat = recordingChannel({ kind: "chat", can, live });
      await using t = await gatewayOn(store, { agents: { writer }, channels: [chat] });
      const hangs = await chat.receive("room", "hangs");
      await t.ended(hangs.run ?? "");
      await t.settled();
      expect(order).toEqual(["show hangs", "post, ended; 1 ops"]);
      expect(chat.posts().map(({ text }) => text)).toEqual(["hangs and the end"]);
      const fails = await chat.receive("room", "fails");
      expect(await t.ended(fails.run ?? "")).toMatchObject({ state: "completed" });
      await t.settled();
      expect(chat.posts().map(({ text }) => text)).toEqual(["hangs and the end", "fails and the end"]);
    },
  );
});
