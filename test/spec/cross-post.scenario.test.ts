/** What leaves its conversation does so by a rule that names it, and changes nothing about the answer. */
import { expect } from "vitest";
import type { ConversationKind } from "../../src/address/kind.ts";
import type { CrossPostRule } from "../../src/deliveries/choose-destination.ts";
import { agent } from "../../src/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gatewayOn, refusal, told } from "./support.ts";

const roomToNews: CrossPostRule[] = [{ from: "web:main/room", to: "web:main/news" }];

eachStore((store) => {
  scenario(["ADDR-7"], "content reaches a wider audience only by a rule that names both ends", async () => {
    const tried: {
      from: string;
      kind: ConversationKind;
      to: string;
      allowed: boolean;
      rules: CrossPostRule[];
    }[] = [
      { from: "dm", kind: "dm", to: "wide", allowed: false, rules: [] },
      { from: "dm", kind: "dm", to: "wide", allowed: false, rules: [{ to: "web:main/wide" }] },
      {
        from: "dm",
        kind: "dm",
        to: "wide",
        allowed: false,
        rules: [{ from: "web:main/*", to: "web:main/wide" }],
      },
      {
        from: "dm",
        kind: "dm",
        to: "wide",
        allowed: false,
        rules: [{ from: "web:main/dm", to: "web:main/*" }],
      },
      {
        from: "dm",
        kind: "dm",
        to: "wide",
        allowed: true,
        rules: [{ from: "web:main/dm", to: "web:main/wide" }],
      },
      { from: "dm", kind: "dm", to: "dm2", allowed: false, rules: [{ to: "web:main/dm2" }] },
      { from: "group", kind: "group", to: "wide", allowed: false, rules: [{ to: "web:main/*" }] },
      { from: "odd", kind: "unknown", to: "wide", allowed: false, rules: [{ to: "web:main/wide" }] },
      { from: "odd", kind: "unknown", to: "dm2", allowed: false, rules: [{ to: "web:main/dm2" }] },
      { from: "room", kind: "channel", to: "wide", allowed: true, rules: [{ to: "web:main/wide" }] },
      { from: "room", kind: "channel", to: "wide", allowed: false, rules: [] },
      { from: "room", kind: "channel", to: "new", allowed: false, rules: [{ to: "web:main/new" }] },
      {
        from: "room",
        kind: "channel",
        to: "new",
        allowed: true,
        rules: [{ from: "web:main/room", to: "web:main/new" }],
      },
    ];
    const poster = agent.fn(async (ctx) => {
      const to = /^to (.+)$/.exec(ctx.text)?.[1];
      if (to === undefined) return "hello";
      return (await refusal(() => ctx.send(`web:main/${to}`, "across"))).code;
    });
    // One gateway for what has the same rules.
    for (const same of Map.groupBy(tried, ({ rules }) => JSON.stringify(rules)).values()) {
      await using t = await gatewayOn(store, { agents: { poster }, crossPost: same[0]?.rules ?? [] });
      await t.say("hello", { conversation: "wide", kind: "channel" });
      await t.say("hello", { conversation: "dm2", kind: "dm" });
      for (const { from, kind, to, allowed, rules } of same) {
        const { text, address, turn } = await t.say(`to ${to}`, { conversation: from, kind });
        const across = (await t.posts()).filter((post) => post.text === "across" && post.turn === turn);
        expect({ from, to, rules, text, across: told(across) }).toEqual({
          from,
          to,
          rules,
          text: allowed ? "nothing was refused" : "cross_post_not_allowed",
          across: allowed ? [[`web:main/${to}`, "across"]] : [],
        });
        expect((await t.posts(address)).at(-1)?.text).toBe(text);
      }
    }
  });

  scenario(["ADDR-7"], "a thread and its conversation are one place to cross-post rules", async () => {
    const poster = agent.fn(async (ctx) => {
      const inThread = await refusal(() => ctx.send("web:main/room/t9", "to a thread"));
      const otherThread = await refusal(() => ctx.send("web:main/other/t1", "elsewhere"));
      return `${inThread.code}, ${otherThread.code}`;
    });
    await using t = await gatewayOn(store, { agents: { poster } });
    const { text } = await t.say("go", { conversation: "room", kind: "dm" });
    expect(text).toBe("nothing was refused, cross_post_not_allowed");
  });

  scenario(["ADDR-8"], "sends elsewhere, done or refused, leave the answer where it was asked", async () => {
    const wanderer = agent.fn(async (ctx) => {
      await ctx.send("web:main/news", "news");
      await refusal(() => ctx.send("web:main/forbidden", "no"));
      await ctx.send("web:main/news", "more news");
      await ctx.say("still here");
      return "the answer";
    });
    await using t = await gatewayOn(store, { agents: { wanderer }, crossPost: roomToNews });
    const said = await t.say("go", { conversation: "room", thread: "t1", kind: "channel" });
    expect(told(await t.posts("web:main/room/t1"))).toEqual([
      ["web:main/room/t1", "still here"],
      ["web:main/room/t1", "the answer"],
    ]);
    expect(told(await t.posts("web:main/news"))).toEqual([
      ["web:main/news", "news"],
      ["web:main/news", "more news"],
    ]);
    expect(await t.posts("web:main/forbidden")).toEqual([]);
    expect(await t.run(said.run ?? "")).toMatchObject({ replyTo: said.address, postedIn: said.address });
  });
});
