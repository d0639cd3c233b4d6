/** The turn's address in tools: a token is a grant over runs, and what a caller says only chooses among them. */
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import type { RunContext } from "../../src/agents/agent.ts";
import { agent } from "../../src/index.ts";
import type { WaybillConfig } from "../../src/gateway/settings.ts";
import { testGateway, type TestGatewayOptions } from "../../src/test-kit/index.ts";
import { eachStore, type TestStore } from "../support/stores.ts";
import { toolClient, type ToolClient } from "../support/tool-client.ts";
import { scenario } from "./scenario.ts";
import { gatewayOn, gates, told } from "./support.ts";

const key = Buffer.alloc(32, 5).toString("base64url");

/**
 * A gateway whose agent shows its context and waits for the test, turn by turn: what a pooled process does with its turns
 * is done by the test, in its name.
 */
async function pooled(
  store: TestStore,
  config: Partial<WaybillConfig> = {},
  options: TestGatewayOptions = {},
) {
  const gate = gates();
  const contexts = new Map<string, RunContext>();
  const worker = agent.fn(async (ctx) => {
    contexts.set(ctx.text, ctx);
    gate(`begin ${ctx.text}`).open();
    await Promise.race([gate(`end ${ctx.text}`).opened, once(ctx.signal, "abort")]);
    return `answer to ${ctx.text}`;
  });
  const t = await gatewayOn(store, { agents: { worker }, ...config }, { key, ...options });
  onTestFinished(() => t[Symbol.asyncDispose]());
  const begin = async (text: string, conversation: string, kind: "dm" | "channel" = "dm") => {
    const { run } = await t.post(text, { conversation, kind });
    await gate(`begin ${text}`).opened;
    return { ctx: contexts.get(text)!, run: run! };
  };
  const end = async (text: string) => {
    gate(`end ${text}`).open();
    await t.ended(contexts.get(text)!.run.id);
  };
  const toolsOf = async (token: string): Promise<ToolClient> => {
    const client = await toolClient("http://127.0.0.1", token, (url, init) => t.fetch(String(url), init));
    onTestFinished(() => client.close());
    return client;
  };
  return { t, begin, end, toolsOf };
}

eachStore((store) => {
  scenario(
    ["ADDR-3", "ADDR-4"],
    "a process that is used again for another conversation posts each turn's words in that turn's place, with one memory for all",
    async () => {
      const { t, begin, end, toolsOf } = await pooled(store, { memory: "shared" });
      const one = await begin("first", "dm");
      const { token } = await one.ctx.grant("process:1");
      const tools = await toolsOf(token);
      expect((await tools.call("post_message", { text: "alone" })).value).toMatchObject({ run: one.run });
      await end("first");

      const two = await begin("second", "room", "channel");
      expect((await two.ctx.grant("process:1")).token).toBe(token);
      const echoed = await tools.call("post_message", { text: "of two", turn_conversation: two.ctx.echo });
      expect(echoed.value).toMatchObject({ run: two.run, address: "web:main/room" });
      const asRead = await tools.call("post_message", {
        text: "as in the prompt",
        turn_conversation: `reply_to=${two.ctx.echo}`,
      });
      expect(asRead.value).toMatchObject({ run: two.run });
      const unsaid = await tools.call("post_message", { text: "whose?" });
      expect(unsaid.value).toMatchObject({ code: "turn_required" });
      expect(unsaid.text).toContain("web:main/room");
      await end("second");

      expect(told(await t.posts("web:main/dm"))).toEqual([
        ["web:main/dm", "alone"],
        ["web:main/dm", "answer to first"],
      ]);
      expect((await t.posts("web:main/room")).map(({ text }) => text)).toEqual([
        "of two",
        "as in the prompt",
        "answer to second",
      ]);
    },
  );

  scenario(
    ["ADDR-4", "ADDR-13"],
    "a late call of one turn during the next goes to its own place, and never to the next one's",
    async () => {
      const { t, begin, end, toolsOf } = await pooled(store);
      const one = await begin("first", "dm");
      const { token } = await one.ctx.grant("process:1", "own-turn-1");
      const tools = await toolsOf(token);
      await end("first");
      const two = await begin("second", "room", "channel");
      await two.ctx.grant("process:1", "own-turn-2");

      const late = await tools.call("post_message", { text: "late", turn_conversation: one.ctx.echo });
      expect(late.value).toMatchObject({ address: "web:main/dm", run: one.run });
      const byTurn = await tools.call("post_message", { text: "later" }, { "waybill/turn": "own-turn-1" });
      expect(byTurn.value).toMatchObject({ address: "web:main/dm", run: one.run });
      expect((await tools.call("post_message", { text: "lost" })).value).toMatchObject({
        code: "turn_required",
      });
      await end("second");
      expect((await t.posts("web:main/room")).map(({ text }) => text)).toEqual(["answer to second"]);
      expect((await t.posts("web:main/dm")).map(({ text }) => text)).toEqual([
        "answer to first",
        "late",
        "later",
      ]);
      const events = await t.events(one.run);
      expect(events.filter(({ kind }) => kind === "said").map(({ data }) => data?.["late"])).toEqual([
        true,
        true,
      ]);
    },
  );

  scenario(
    ["ADDR-13", "ADDR-4"],
    "after the grace time a call is refused, and nothing is posted",
    async () => {
      const { t, begin, end, toolsOf } = await pooled(store, { tools: { graceMs: 0 } });
      const one = await begin("first", "dm");
      const { token } = await one.ctx.grant("process:1", "own-turn-1");
      const tools = await toolsOf(token);
      await end("first");
      const post = async (args: object, meta?: Record<string, unknown>) =>
        (await tools.call("post_message", { text: "late", ...args }, meta)).value["code"];
      expect(await post({ turn_conversation: one.ctx.echo })).toBe("turn_ended");
      expect(await post({})).toBe("no_live_turn");

      const two = await begin("second", "room", "channel");
      await two.ctx.grant("process:1", "own-turn-2");
      expect(await post({ turn_conversation: one.ctx.echo })).toBe("turn_ended");
      expect(await post({}, { "waybill/turn": "own-turn-1" })).toBe("turn_required");
      // However long ago the first turn ended, a call that does not say which may be one of its.
      expect(await post({})).toBe("turn_required");
      await end("second");
      expect((await t.posts()).map(({ text }) => text)).toEqual(["answer to first", "answer to second"]);
      expect((await t.events(two.run)).map(({ kind }) => kind)).toContain("send_refused");
    },
  );

  scenario(
    ["ADDR-4"],
    "an echo that is forged, altered, prose, of another turn, grant or gateway is refused, each by its own code",
    async () => {
      const { t, begin, toolsOf } = await pooled(store);
      const shower = agent.fn((ctx) => ctx.echo);
      const otherKey = Buffer.alloc(32, 6).toString("base64url");
      await using strange = await testGateway({ agents: { shower } }, { key: otherKey });
      const dm = await begin("first", "dm");
      const other = await begin("other", "room", "channel");
      const foreign = await strange.say("hello", { conversation: "dm" });
      const tools = await toolsOf((await dm.ctx.grant("process:1")).token);
      await other.ctx.grant("process:2");
      const { echo } = dm.ctx;
      const altered = echo.replace("web:main/dm", "web:main/room");
      const tried: [string, unknown][] = [
        ["the conversation that I am in", "invalid_echo"],
        ["web:main/dm", "invalid_echo"],
        ["#general", "invalid_echo"],
        [`${echo} or web:main/room`, "invalid_echo"],
        [altered, "forged_echo"],
        [echo.replace(dm.ctx.run.turn, other.ctx.run.turn), "forged_echo"],
        [echo.replace(/sig=.*/, `sig=${"A".repeat(43)}`), "forged_echo"],
        [foreign.text, "forged_echo"],
        [other.ctx.echo, "turn_not_granted"],
      ];
      for (const [turn_conversation, code] of tried) {
        for (const more of [{}, { to: "web:main/room" }, { to: "web:main/dm" }]) {
          const answer = await tools.call("post_message", { text: "x", turn_conversation, ...more });
          expect({ tried: turn_conversation, ...answer.value }).toMatchObject({ code, use: "web:main/dm" });
          expect(answer.text).not.toContain("sig=");
        }
      }
      expect(await t.posts()).toEqual([]);
      const refused = (await t.events(dm.run)).filter(({ kind }) => kind === "send_refused");
      expect(refused).toHaveLength(tried.length * 3);
      expect((await t.events(other.run)).map(({ kind }) => kind)).not.toContain("send_refused");
    },
  );

  scenario(
    ["ADDR-6", "ADDR-8"],
    "who was refused once and leaves the target out from then on still reaches the turn's own place",
    async () => {
      const { t, begin, end, toolsOf } = await pooled(store, {
        crossPost: [{ from: "web:main/dm", to: "web:main/news" }],
      });
      const dm = await begin("first", "dm");
      await t.post("chatter", { conversation: "general", kind: "channel" });
      const tools = await toolsOf((await dm.ctx.grant("process:1")).token);
      const refused = await tools.call("post_message", { text: "one", to: "web:main/general" });
      expect(refused.value).toMatchObject({ code: "cross_post_not_allowed", use: "web:main/dm" });
      expect(refused.text).toContain("web:main/dm");
      const used = refused.value["use"] as string;
      expect((await tools.call("post_message", { text: "two", to: used })).refused).toBe(false);
      expect((await tools.call("post_message", { text: "three" })).refused).toBe(false);
      const news = await tools.call("post_message", { text: "four", to: "web:main/news" });
      expect(news.value).toMatchObject({ address: "web:main/news" });
      await end("first");
      expect((await t.posts("web:main/dm")).map(({ text }) => text)).toEqual([
        "two",
        "three",
        "answer to first",
      ]);
      expect((await t.posts("web:main/news")).map(({ text }) => text)).toEqual(["four"]);
      const [final] = await t
        .deliveries({ run: dm.run })
        .then((all) => all.filter(({ kind }) => kind === "final"));
      expect(final).toMatchObject({ address: "web:main/dm", rule: "turn" });
      expect(final!.rejected).toMatchObject([
        { address: "web:main/general", reason: "cross_post_not_allowed" },
      ]);
    },
  );

  scenario(
    ["ADDR-7", "ADDR-4"],
    "a turn is shown the addresses that it may reach, and no pattern and no other turn's",
    async () => {
      const crossPost = [
        { from: "web:main/dm", to: "web:main/news" },
        { from: "web:main/other", to: "web:main/secret" },
        { to: "web:main/lobby" },
        { from: "web:main/*", to: "web:main/*" },
      ];
      const { begin, toolsOf } = await pooled(store, { crossPost });
      const dm = await begin("first", "dm");
      const room = await begin("second", "room", "channel");
      const shown = async (ctx: RunContext, holder: string) =>
        (await (await toolsOf((await ctx.grant(holder)).token)).call("list_addresses")).value["addresses"];
      expect(await shown(dm.ctx, "process:1")).toEqual([
        { address: "web:main/dm", why: "turn" },
        { address: "web:main/news", why: "cross_post_rule" },
      ]);
      expect(await shown(room.ctx, "process:2")).toEqual([{ address: "web:main/room", why: "turn" }]);
    },
  );
});
