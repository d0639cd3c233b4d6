/** Slack as people have it: the bot is named, and answers in threads. On the emulator, with a real gateway. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { slack } from "../../src/channels/slack/index.ts";
import type { RunningGateway } from "../../src/gateway/create-gateway.ts";
import { SlackTown } from "../support/slack/slack-town.ts";
import { eachStore } from "../support/stores.ts";
import { Gates, readJson, startGateway, untilChanged, type WireDelivery } from "./channels.harness.ts";

eachStore((store) => {
  const gates = new Gates();
  let one: SlackTown;
  let two: SlackTown;
  let gateway: RunningGateway;
  let close: () => Promise<void>;

  beforeAll(async () => {
    one = await SlackTown.start({ team: "T1" });
    two = await SlackTown.start({ team: "T2", secret: one.secret });
    for (const town of [one, two]) {
      town.addUser("U1");
      town.addConversation("C1");
      town.addConversation("X1", "dm");
    }
    const channels = [one, two].map((town) =>
      slack({
        account: town.team,
        botToken: town.bot.token,
        signingSecret: town.secret,
        apiUrl: town.apiUrl,
        allow: { users: "*", channels: "*", dms: true },
        preview: false,
      }),
    );
    ({ gateway, close } = await startGateway(store, channels, gates));
    for (const town of [one, two]) town.deliver = (request) => gateway.fetch(request);
  });
  afterAll(async () => {
    await close();
    await Promise.all([one.stop(), two.stop()]);
  });

  const untilTexts = async (
    town: SlackTown,
    conversation: string,
    thread: string | null,
    ...texts: string[]
  ) => {
    const seen = () => town.posts(conversation, thread).map(({ text }) => text);
    await town.until(`${texts.length} posts in ${conversation}`, () => seen().length >= texts.length);
    expect(seen()).toEqual(texts);
  };

  test("ADDR-1 ADDR-9: each question is answered in a thread below it, in its own workspace, whatever is said meanwhile", async () => {
    const asked = [];
    for (const [town, conversation, key] of [
      [one, "X1", "a"],
      [one, "C1", "b"],
      [two, "C1", "c"],
      [two, "X1", "d"],
    ] as const) {
      const { ts, answer } = await town.say("U1", conversation, `<@UBOT> wait ${key}`);
      expect(answer.status).toBe(200);
      asked.push({ town, conversation, key, ts });
    }
    await Promise.all(asked.map(({ key }) => gates.started(key)));
    for (const { key } of asked.toReversed()) gates.open(key);
    for (const { town, conversation, key, ts } of asked) {
      await untilTexts(town, conversation, ts, `You said: wait ${key}`);
      expect(town.posts(conversation)).toEqual([]);
    }
  });

  test("LEDG-13: a message, its twin and its repetitions are answered once", async () => {
    const { ts } = await one.say("U1", "C1", "<@UBOT> hi");
    await Promise.all([one.twin("C1", ts), one.redeliver("C1", ts), one.twin("C1", ts)]);
    await untilTexts(one, "C1", ts, "You said: hi");
    await one.say("U1", "C1", "and now?", { thread_ts: ts });
    await untilTexts(one, "C1", ts, "You said: hi", "You said: and now?");
  });

  test("a thread is heard as soon as the bot was named at its head, before there is an answer", async () => {
    const { ts } = await one.say("U1", "C1", "<@UBOT> wait e");
    await gates.started("e");
    const { answer } = await one.say("U1", "C1", "more", { thread_ts: ts });
    expect(answer.body).toMatchObject({ address: `slack:T1/C1/${ts}` });
    gates.open("e");
    await untilTexts(one, "C1", ts, "You said: wait e", "You said: more");
  });

  test("ADDR-9: where the thread was deleted meanwhile the answer is blocked, and stands nowhere else", async () => {
    const { ts, answer } = await one.say("U1", "X1", "wait f");
    await gates.started("f");
    const before = one.posts("X1").length;
    one.vanish("X1", ts);
    // Somebody else's name on it, so that the question is not taken back and its run goes on.
    const previous_message = { ts, user: "U2", text: "wait f" };
    const gone = {
      type: "message",
      subtype: "message_deleted",
      channel: "X1",
      deleted_ts: ts,
      previous_message,
    };
    await one.send(one.envelope(gone));
    gates.open("f");
    const run = answer.body["run"] as string;
    const deliveries = () => readJson<{ items: WireDelivery[] }>(gateway, `/v1/deliveries?run=${run}`);
    await untilChanged(gateway, async () => (await deliveries()).items[0]?.state === "blocked");
    const [delivery] = (await deliveries()).items;
    expect(delivery?.reason).toContain("the thread does not exist any more");
    expect(one.posts("X1", ts)).toEqual([]);
    expect(one.posts("X1")).toHaveLength(before);
  });

  test("a question that is taken back ends its run, and nothing is posted", async () => {
    const { ts, answer } = await one.say("U1", "X1", "wait g");
    await gates.started("g");
    await one.as("U1").chat.delete({ channel: "X1", ts });
    const run = answer.body["run"] as string;
    const state = async () => (await readJson<{ state: string }>(gateway, `/v1/runs/${run}`)).state;
    await untilChanged(gateway, async () => (await state()) === "cancelled");
    expect(one.posts("X1", ts)).toEqual([]);
  });
});
