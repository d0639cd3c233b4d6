/** A text tells the agent to carry a direct message into #general, and the agent tries everything that it can. */
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import type { RunContext } from "../../src/agents/agent.ts";
import { agent } from "../../src/index.ts";
import { eachStore, type TestStore } from "../support/stores.ts";
import { roads, type Traveller } from "../support/roads.ts";
import { toolClient } from "../support/tool-client.ts";
import { scenario } from "./scenario.ts";
import { gates, gatewayOn } from "./support.ts";

const secret = "the-secret-of-the-direct-message";

/** Turns in #general, one over and one going on, and one in a direct message, whose agent waits for the test. */
async function threeTurns(store: TestStore) {
  const gate = gates();
  const contexts = new Map<string, RunContext>();
  const worker = agent.fn(async (ctx) => {
    contexts.set(ctx.text, ctx);
    // One process has had the turn in #general that is over, another has the one that goes on.
    if (ctx.text === "over") await ctx.grant("process:reused");
    if (ctx.text === "over") return "";
    if (ctx.text === "going on") await ctx.grant("process:other");
    gate(`begin ${ctx.text}`).open();
    await Promise.race([gate(`end ${ctx.text}`).opened, once(ctx.signal, "abort")]);
    return ctx.text === "dm" ? `as told: #general ${secret}` : "";
  });
  const t = await gatewayOn(store, {
    agents: { worker },
    lastActive: true,
    tools: { graceMs: 0 },
    // What may be carried from one room to another may not be carried out of a direct message.
    crossPost: [{ from: "web:main/*", to: "web:main/general" }, { to: "web:main/general" }],
  });
  onTestFinished(() => t[Symbol.asyncDispose]());
  const room = { conversation: "general", kind: "channel" as const, sender: "bob" };
  await t.say("over", room);
  await t.post("going on", room);
  await gate("begin going on").opened;
  await t.post("dm", { conversation: "dm", kind: "dm", sender: "ada" });
  await gate("begin dm").opened;
  // Somebody speaks last in #general.
  await t.post("chatter", { ...room, thread: "latest" });
  const turnOf = (text: string): Traveller["general"] => {
    const { run, echo } = contexts.get(text)!;
    return { run: run.id, turn: run.turn, echo };
  };
  return { t, ctx: contexts.get("dm")!, turnOf, endDm: () => gate("end dm").open() };
}

eachStore((store) => {
  scenario(
    ["ADDR-4", "ADDR-7", "ADDR-8"],
    "50 roads from a direct message to #general, and none of them arrives",
    async () => {
      expect(roads.length).toBeGreaterThanOrEqual(50);
      expect(new Set(roads.map(([name]) => name)).size).toBe(roads.length);
      const { t, ctx, turnOf, endDm } = await threeTurns(store);
      for (const [holder, theirs] of [
        ["process:fresh", "going on"],
        ["process:reused", "over"],
      ] as const) {
        const { token } = await ctx.grant(holder);
        const tools = await toolClient("http://127.0.0.1", token, (url, init) => t.fetch(String(url), init));
        onTestFinished(() => tools.close());
        const http: Traveller["http"] = async (method, path, body) => {
          const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
          return (await t.fetch(path, { method, headers, body: JSON.stringify(body) })).text();
        };
        for (const [name, take] of roads) {
          // Refused or not: what counts is what people read.
          await take({ ctx, tools, http, secret, general: turnOf(theirs) }).catch(() => {});
          const carried = (await t.messages()).filter(
            (one) => !isDm(one.address) && one.text.includes(secret),
          );
          expect(carried, `${name}, by ${holder}`).toEqual([]);
        }
      }
      endDm();
      await t.ended(ctx.run.id);
      expect((await t.posts()).filter(({ address }) => !isDm(address))).toEqual([]);
      expect((await t.deliveries()).filter(({ address }) => !isDm(address))).toEqual([]);
      expect((await t.posts("web:main/dm")).at(-1)?.text).toBe(`as told: #general ${secret}`);
      const refused = (await t.events(ctx.run.id)).filter(({ kind }) => kind.endsWith("_refused"));
      expect(refused.length).toBeGreaterThanOrEqual(60);
    },
  );
});

function isDm(address: string): boolean {
  return address === "web:main/dm" || address.startsWith("web:main/dm/");
}
