/** Every reply goes back to where it was asked. */
import fc from "fast-check";
import { expect } from "vitest";
import { formatAddress, parseAddress } from "../../src/address/address.ts";
import type { ConversationKind } from "../../src/address/kind.ts";
import { agent } from "../../src/index.ts";
import type { CrossPostRule } from "../../src/deliveries/choose-destination.ts";
import { recordingChannel } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { waybill } from "./command.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn, readTables, refusal, told } from "./support.ts";

const roomToNews: CrossPostRule[] = [{ from: "web:main/room", to: "web:main/news" }];
const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);

eachStore((store) => {
  scenario(
    ["ADDR-1"],
    "a send without a target reaches the DM that asked, while a public channel speaks",
    async () => {
      const asked = gate();
      const publicHasSpoken = gate();
      const patient = agent.fn(async (ctx) => {
        asked.open();
        await publicHasSpoken.opened;
        await ctx.send(undefined, "sent without a target");
        await ctx.say("said");
        return "answered";
      });
      const routes = [{ in: "web:main/general", agent: "echo" }];
      await using t = await gatewayOn(store, { agents: { patient, echo }, routes, lastActive: true });

      const question = t.say("a private question", { conversation: "ada", kind: "dm", sender: "ada" });
      await asked.opened;
      await t.say("hello everybody", { conversation: "general", kind: "channel", sender: "bob" });
      const slots = await readTables(t.databaseUrl, (k) => k.selectFrom("slots").select(["slot", "address"]));
      publicHasSpoken.open();
      await question;

      expect(slots).toContainEqual({ slot: "last-active", address: "web:main/general" });
      expect(told(await t.posts("web:main/ada"))).toEqual([
        ["web:main/ada", "sent without a target"],
        ["web:main/ada", "said"],
        ["web:main/ada", "answered"],
      ]);
      expect(told(await t.posts("web:main/general"))).toEqual([
        ["web:main/general", "You said: hello everybody"],
      ]);
    },
  );

  scenario(
    ["ADDR-1", "ADDR-9"],
    "with one memory shared by all, each of many turns at once answers where it was asked",
    async () => {
      const all = gate();
      let waiting = 0;
      const crowd = agent.fn(async (ctx) => {
        waiting += 1;
        if (waiting === 12) all.open();
        await all.opened;
        await ctx.say(`said to ${ctx.text}`);
        return `answered ${ctx.text}`;
      });
      await using t = await gatewayOn(store, { agents: { crowd }, memory: "shared", lastActive: true });
      const places = Array.from({ length: 12 }, (_, n) => ({
        conversation: `c${n % 4}`,
        thread: n < 4 ? undefined : `t${n}`,
      }));

      await Promise.all(places.map((place, n) => t.say(`${n}`, { ...place, sender: `p${n}` })));

      for (const [n, { conversation, thread }] of places.entries()) {
        const posts = await t.posts(t.address(conversation, thread ?? null));
        expect(posts.map(({ text }) => text)).toEqual([`said to ${n}`, `answered ${n}`]);
      }
    },
  );

  scenario(
    ["ADDR-2"],
    "a named target wins over the turn's address; a refused one is an error and nothing else",
    async () => {
      const closed = recordingChannel({ kind: "chat", allow: { places: ["chat:test/open"] } });
      const seen: unknown[] = [];
      const sender = agent.fn(async (ctx) => {
        await ctx.send("web:main/news", "to the named place");
        await ctx.send(undefined, "to the turn's place");
        for (const to of ["chat:test/secret", "web:main/other", "nowhere:x/y", "not an address"]) {
          seen.push(await refusal(() => ctx.send(to, `to ${to}`)));
        }
        return "done";
      });
      const from = "web:main/room";
      const crossPost: CrossPostRule[] = [
        { from, to: "web:main/news" },
        { from, to: "chat:test/secret" },
      ];
      await using t = await gatewayOn(store, { agents: { sender }, channels: [closed], crossPost });

      const { run } = await t.say("go", { conversation: "room", kind: "channel" });

      const use = "web:main/room";
      expect(seen).toEqual([
        { code: "destination_not_allowed", use },
        { code: "cross_post_not_allowed", use },
        { code: "destination_not_allowed", use },
        { code: "invalid_address", use: undefined },
      ]);
      expect(told(await t.posts()).toSorted((a, b) => a.join().localeCompare(b.join()))).toEqual([
        ["web:main/news", "to the named place"],
        ["web:main/room", "done"],
        ["web:main/room", "to the turn's place"],
      ]);
      expect(closed.attempts).toEqual([]);
      const rules = (await t.deliveries({ run: run ?? "" })).map(({ kind, rule }) => `${kind} ${rule}`);
      expect(rules.toSorted()).toEqual(["final turn", "send explicit", "send turn"]);
    },
  );

  scenario(
    ["ADDR-2", "ADDR-9"],
    "a turn's place that was closed meanwhile is blocked, not replaced",
    async () => {
      const chat = recordingChannel({ kind: "chat" });
      const [working, isClosed] = [gate(), gate()];
      const worker = agent.fn(async (ctx) => {
        working.open();
        await isClosed.opened;
        const refused = await refusal(() => ctx.send(undefined, "sent"));
        await ctx.say("said");
        return refused.code;
      });
      await using t = await gatewayOn(store, { agents: { worker }, channels: [chat], lastActive: true });
      const asked = t.say("go", { address: "chat:test/room" });
      await working.opened;
      await t.settled((await chat.receive("lobby", "status")).turn);
      const before = chat.posts().length;
      chat.forbid("chat:test/room");
      isClosed.open();

      const { text, run } = await asked;

      expect(text).toBe("destination_not_allowed");
      expect(chat.posts()).toHaveLength(before);
      expect(await t.posts("chat:test/room")).toEqual([]);
      const deliveries = await t.deliveries({ run: run ?? "" });
      expect(deliveries.map(({ address, state, reason }) => [address, state, reason])).toEqual([
        ["chat:test/room", "blocked", "the operator has closed this place"],
        ["chat:test/room", "blocked", "the operator has closed this place"],
      ]);
    },
  );

  for (const memory of ["conversation", "shared"] as const) {
    scenario(
      ["ADDR-9"],
      "when its thread is gone the answer is blocked with the reason, and nothing goes to the root",
      async () => {
        const chat = recordingChannel({ kind: "chat", can: { preview: memory === "shared" } });
        await using t = await gatewayOn(store, {
          agents: { echo },
          channels: [chat],
          memory,
          lastActive: true,
        });
        await t.say("at the root", { address: "chat:test/room", sender: "ada" });
        const root = chat.posts("chat:test/room");
        chat.close("chat:test/room/t1", "the thread was deleted");

        const { run, turn, state } = await t.say("in the thread", {
          address: "chat:test/room/t1",
          sender: "ada",
        });

        expect(state).toBe("completed");
        const [delivery, ...more] = await t.deliveries({ turn });
        expect(more).toEqual([]);
        expect(delivery).toMatchObject({
          run,
          address: "chat:test/room/t1",
          state: "blocked",
          reason: "the thread was deleted",
          receipts: [],
        });
        expect(chat.posts()).toEqual(root);
        expect(await t.run(run ?? "")).toMatchObject({ postedIn: null });
      },
    );
  }

  scenario(["ADDR-10"], "each delivery keeps its rule and what was refused before it", async () => {
    const wanderer = agent.fn(async (ctx) => {
      await refusal(() => ctx.send("web:main/forbidden", "no"));
      await ctx.send("web:main/news", "news");
      return "answer";
    });
    await using t = await gatewayOn(store, { agents: { wanderer }, crossPost: roomToNews });
    const { run } = await t.say("go", { conversation: "room", kind: "channel" });
    const rejected = [{ rule: "explicit", address: "web:main/forbidden", reason: "cross_post_not_allowed" }];
    const deliveries = await t.deliveries({ run: run ?? "" });
    expect(deliveries.map((one) => [one.kind, one.address, one.rule, one.rejected])).toEqual([
      ["send", "web:main/news", "explicit", rejected],
      ["final", "web:main/room", "turn", rejected],
    ]);
    for (const delivery of deliveries) {
      const story = await t.why(delivery.id);
      expect(story.deliveries.find(({ id }) => id === delivery.id)).toMatchObject({
        rule: delivery.rule,
        rejected,
      });
      expect(story.text.join("\n")).toContain(
        "web:main/forbidden was refused (explicit): cross_post_not_allowed",
      );
    }
    const answer = await t.fetch(`/v1/deliveries/${deliveries[1]?.id}`);
    expect(await answer.json()).toMatchObject({ address: "web:main/room", rule: "turn", rejected });
    await t.stop();
    const env = { WAYBILL_DATABASE_URL: t.databaseUrl };
    const told = await waybill(["why", deliveries[1]?.id ?? "", "--json"], { env });
    expect(told).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("web:main/forbidden was refused"),
    });
  });

  scenario(["ADDR-10"], "a refused send is an event of its run", async () => {
    const wanderer = agent.fn(
      async (ctx) => (await refusal(() => ctx.send("web:main/forbidden", "no"))).code,
    );
    await using t = await gatewayOn(store, { agents: { wanderer } });
    const { run } = await t.say("go", { conversation: "room", kind: "channel" });
    const rejected = [{ rule: "explicit", address: "web:main/forbidden", reason: "cross_post_not_allowed" }];
    expect((await t.deliveries()).map(({ address }) => address)).toEqual(["web:main/room"]);
    const refused = (await t.events(run ?? "")).filter(({ kind }) => kind === "send_refused");
    expect(refused.map(({ data }) => data)).toEqual([expect.objectContaining(rejected[0] ?? {})]);
  });

  scenario(["ADDR-12"], "any ids come back from an address, and a kind is stored, not guessed", async () => {
    const chat = recordingChannel({ kind: "chat" });
    await using t = await gatewayOn(store, { agents: { echo }, channels: [chat] });
    const id = fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" });
    const kind = fc.constantFrom<ConversationKind>("dm", "group", "channel", "unknown");
    const thread = fc.option(id, { nil: undefined });
    const stored = new Map<string, ConversationKind>();
    await fc.assert(
      fc.asyncProperty(id, thread, kind, async (conversation, inThread, wide) => {
        const { address, turn } = await chat.receive(conversation, "hi", { thread: inThread, kind: wide });
        await t.settled(turn);
        const parsed = parseAddress(address);
        expect(parsed).toEqual({ channel: "chat", account: "test", conversation, thread: inThread ?? null });
        expect((await t.posts(address)).at(-1)).toMatchObject({ address, turn, text: "You said: hi" });
        expect(chat.posts(address).at(-1)?.text).toBe("You said: hi");
        // What a thread's message tells of its conversation counts; what knows nothing of it unsays nothing.
        const root = formatAddress({ ...parsed, thread: null });
        for (const one of [root, address]) {
          if (wide !== "unknown" || !stored.has(one)) stored.set(one, wide);
        }
      }),
      {
        numRuns: 40,
        examples: [
          ["one", undefined, "unknown"],
          ["one", "thread", "group"],
          ["one", undefined, "unknown"],
          ["one", "thread", "unknown"],
          ["100%", undefined, "dm"],
          ["a/b %2F *", "t/1 ?#", "channel"],
          ["\u200Ba\u0000b", "\u202E", "group"],
        ],
      },
    );
    for (const known of ["C123", "D123", "G123", "dm", "#general", "@ada"]) {
      for (const wide of ["dm", "channel"] as const) {
        await t.settled((await chat.receive(known, "hi", { kind: wide })).turn);
        stored.set(`chat:test/${known}`, wide);
        const [found] = (await t.conversations()).filter(({ conversation }) => conversation === known);
        expect(found).toMatchObject({ conversation: known, thread: null, kind: wide });
      }
    }
    const conversations = await t.conversations();
    for (const [address, wide] of stored) {
      expect(conversations.find((one) => one.address === address)).toMatchObject({ kind: wide });
    }
  });

  scenario(
    ["ADDR-14", "LEDG-1"],
    "where it was asked and where it was posted are both on record",
    async () => {
      const chat = recordingChannel({ kind: "chat" });
      const isPosted = gate();
      const slow = agent.fn(async () => {
        await isPosted.opened;
        return "done";
      });
      await using t = await gatewayOn(store, { agents: { slow }, channels: [chat] });
      const asked = await t.post("go", { address: "chat:test/room/t1" });
      const before = await t.reached(asked.run ?? "", (state) => state === "running");
      expect(before).toMatchObject({
        origin: "chat:test/room/t1",
        replyTo: "chat:test/room/t1",
        postedIn: null,
      });
      chat.script({ kind: "retry", reason: "busy" });
      isPosted.open();
      await t.settled(asked.turn);
      const [delivery] = await t.deliveries({ turn: asked.turn });
      expect(delivery?.receipts).toEqual([
        { part: 0, platformId: "p-1", permalink: "https://platform.test/p-1" },
      ]);
      expect(await t.run(asked.run ?? "")).toMatchObject({ postedIn: "chat:test/room/t1" });
      // Any id, and the platform's own link, lead to the same story.
      const [question] = await t.messages("chat:test/room/t1");
      for (const id of ["https://platform.test/p-1", delivery?.id, asked.run, asked.turn, question?.id]) {
        const story = await t.why(id ?? "");
        expect(story.runs).toMatchObject([{ id: asked.run, origin: before.origin, postedIn: before.origin }]);
        expect(story.messages.map(({ text }) => text)).toEqual(["go", "done"]);
      }
      expect(await refusal(() => t.why("https://platform.test/p-2"))).toMatchObject({ code: "not_found" });
    },
  );
});
