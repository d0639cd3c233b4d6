/** On the emulator, with an inbox of the test's own; envelopes that the emulator cannot write are our own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { refusal } from "../../../test/support/slack/faults.ts";
import { SlackTown } from "../../../test/support/slack/slack-town.ts";
import { asWaybillError, httpStatusOf, WaybillError } from "../../kernel/errors.ts";
import type { Channel, ChannelPorts, IncomingMessage } from "../channel.ts";
import { slack, type SlackOptions } from "./index.ts";

let town: SlackTown;
let accepted: IncomingMessage[];
let changes: { what: string; id: string; text?: string; sender: string }[];
let refuse: WaybillError | null;
let known: Set<string>;

beforeAll(async () => {
  town = await SlackTown.start({ team: "T1" });
  for (const id of ["U1", "U2"]) town.addUser(id, undefined, { name: id === "U1" ? "Ann" : "Bo" });
  town.addConversation("C1");
  town.addConversation("P1", "private");
  town.addConversation("G1", "group");
  town.addConversation("X1", "dm");
});
afterAll(() => town.stop());
beforeEach(() => {
  accepted = [];
  changes = [];
  refuse = null;
  known = new Set();
  connect();
});

function connect(more: Partial<SlackOptions> = {}, ports: Partial<ChannelPorts> = {}): Channel {
  const noted = (what: string) => (change: { id: string; text?: string; sender: { id: string } }) => {
    changes.push({ ...change, what, sender: change.sender.id });
    return Promise.resolve("unknown" as const);
  };
  const channel = slack({
    account: "T1",
    botToken: town.bot.token,
    signingSecret: town.secret,
    apiUrl: town.apiUrl,
    allow: { users: ["U1"], channels: ["C1", "P1"], dms: true },
    ...more,
  }).connect(
    channelPorts({
      inbox: {
        accept(incoming) {
          const allowed = channel.authorize(incoming);
          if (allowed !== true) throw new WaybillError("sender_not_allowed", allowed);
          if (refuse) throw refuse;
          accepted.push(incoming);
          const { address } = incoming.place;
          return Promise.resolve({
            turn: "turn_1",
            run: "run_1",
            stream: null,
            address,
            message: "msg_1",
            outcome: "queued",
            repeated: false,
          });
        },
        amend: noted("amend"),
        withdraw: noted("withdraw"),
      },
      knows: (address) => Promise.resolve(known.has(address.thread ?? "")),
      ...ports,
    }),
  );
  town.deliver = async (request) => {
    try {
      return (await channel.handle?.(request)) ?? Response.json({}, { status: 404 });
    } catch (thrown) {
      const { code, message } = asWaybillError(thrown);
      return Response.json({ code, message }, { status: httpStatusOf(code) });
    }
  };
  return channel;
}

const say = (conversation: string, text: string, more: { thread_ts?: string; user?: string } = {}) =>
  town.say(more.user ?? "U1", conversation, text, more.thread_ts ? { thread_ts: more.thread_ts } : {});

describe("what a person says", () => {
  test("in a channel, with the bot's name in it, is answered in a thread below", async () => {
    const { ts, answer } = await say("C1", "<@UBOT> how far?");
    expect(answer).toEqual({ status: 200, body: { turn: "turn_1", run: "run_1", address: "slack:T1/C1" } });
    const place = { channel: "slack", account: "T1", kind: "channel", title: "name-C1" };
    expect(accepted).toEqual([
      {
        place: { ...place, address: "slack:T1/C1", parent: null },
        answerIn: { ...place, address: `slack:T1/C1/${ts}`, parent: "slack:T1/C1" },
        id: ts,
        sender: { id: "U1", name: "Ann" },
        principal: null,
        text: "how far?",
        parts: [{ type: "text", text: "how far?" }],
      },
    ]);
  });

  test.each([
    ["X1", "dm"],
    ["G1", "group"],
    ["P1", "channel"],
    ["C1", "channel"],
  ])("in %s has the kind that Slack tells when it is asked: %s", async (conversation, kind) => {
    await say(conversation, "<@UBOT> hi");
    expect(accepted).toMatchObject([{ place: { kind } }]);
  });

  test("in a direct message is heard without a name; in a channel or group message it is not", async () => {
    await say("X1", "hi");
    for (const conversation of ["C1", "G1", "P1"]) {
      expect((await say(conversation, "hi")).answer.status).toBe(200);
    }
    expect(accepted.map(({ place }) => place.address)).toEqual(["slack:T1/X1"]);
  });

  test("in a thread is heard where the bot was named, or where it wrote the first message", async () => {
    const first = await say("C1", "<@UBOT> hi");
    await say("C1", "not for it", { thread_ts: first.ts });
    expect(accepted).toHaveLength(1);
    known.add(first.ts);
    await say("C1", "and then?", { thread_ts: first.ts });
    expect(accepted[1]).toMatchObject({
      text: "and then?",
      place: { address: `slack:T1/C1/${first.ts}`, parent: "slack:T1/C1" },
    });
    expect(accepted[1]?.answerIn).toBeUndefined();
    await town.send(
      town.envelope({
        type: "message",
        channel: "C1",
        user: "U1",
        text: "x",
        ts: "5.1",
        thread_ts: "5.0",
        parent_user_id: "UBOT",
      }),
    );
    expect(accepted).toHaveLength(3);
  });

  test("is all heard with listen: all, and answered where it was asked with answerIn: conversation", async () => {
    connect({ listen: "all", answerIn: "conversation" });
    await say("C1", "hi");
    expect(accepted).toHaveLength(1);
    expect(accepted[0]?.answerIn).toBeUndefined();
  });

  test("comes once, whichever of message and mention comes first, and says when it is a repetition", async () => {
    const { ts } = await say("C1", "<@UBOT> hi");
    await town.twin("C1", ts);
    expect(accepted[1]).toEqual({ ...accepted[0], retried: true });
  });

  test("with files tells what is left out", async () => {
    const { ts } = await say("X1", "look");
    await town.redeliver("X1", ts, (event) => ({
      ...event,
      subtype: "file_share",
      files: [{ name: "plan.pdf" }, 7],
    }));
    expect(accepted[1]?.leftOut?.map(({ name }) => name)).toEqual(["plan.pdf", "a file"]);
  });

  test("changed or taken back, is changed or taken back", async () => {
    const { ts } = await say("X1", "hi");
    await town.as("U1").chat.update({ channel: "X1", ts, text: "hi &amp; hello" });
    await town.as("U1").chat.delete({ channel: "X1", ts });
    await town.quiet();
    expect(changes).toMatchObject([
      { what: "amend", id: ts, text: "hi & hello", sender: "U1" },
      { what: "withdraw", id: ts, sender: "U1" },
    ]);
  });
});

describe("who may speak", () => {
  test.each([
    ["a stranger", { user: "U2" }, "X1"],
    ["in a channel that is not on the list", {}, "C9"],
  ])("%s is turned away, acknowledged, and named in the log by id", async (_name, more, conversation) => {
    town.addConversation("C9");
    const lines: string[] = [];
    const keep = (_fields: object, line: string): void => void lines.push(line);
    const log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
    connect({}, { log });
    const { answer } = await say(conversation, "<@UBOT> secret text", more);
    expect(answer).toEqual({ status: 200, body: { ignored: "sender_not_allowed" } });
    expect(accepted).toEqual([]);
    expect(lines.some((line) => line.includes("(U") && line.includes("was turned away"))).toBe(true);
    expect(lines.join()).not.toContain("secret text");
  });

  test("dms: false closes direct and group messages; an empty list allows nobody", async () => {
    connect({ allow: { users: "*", channels: "*", dms: false } });
    await say("X1", "<@UBOT> hi");
    await say("G1", "<@UBOT> hi");
    expect(accepted).toEqual([]);
    connect({ allow: { users: [], channels: "*", dms: true } });
    await say("C1", "<@UBOT> hi");
    expect(accepted).toEqual([]);
  });

  test("a place whose kind Slack does not tell has to be listed by its id", async () => {
    const event = { type: "message", channel: "C404", user: "U1", text: "<@UBOT> hi", ts: "7.0" };
    connect({ allow: { users: "*", channels: "*", dms: true } });
    await town.send(town.envelope(event));
    expect(accepted).toEqual([]);
    connect({ allow: { users: "*", channels: ["C404"], dms: false } });
    await town.send(town.envelope(event));
    expect(accepted).toMatchObject([{ place: { kind: "unknown" } }]);
  });
});

describe("a request", () => {
  const hello = () => town.envelope({ type: "message", channel: "X1", user: "U1", text: "hi", ts: "8.0" });

  test("with a wrong signature or an old time is answered with 401", async () => {
    const old = String(Math.floor(Date.now() / 1_000) - 301);
    const wrong: Record<string, string>[] = [
      { "x-slack-signature": "v0=00" },
      { "x-slack-request-timestamp": old },
      { "x-slack-request-timestamp": "now" },
    ];
    for (const headers of wrong) {
      const answer = await town.send(hello(), headers);
      expect([answer.status, answer.body["code"]]).toEqual([401, "invalid_signature"]);
    }
    expect(accepted).toEqual([]);
  });

  test("that is no JSON is answered with 400", async () => {
    expect((await town.send("{")).status).toBe(400);
  });

  test("that proves the URL gets its challenge", async () => {
    const answer = await town.send({ type: "url_verification", challenge: "c-1", token: "t" });
    expect(answer).toEqual({ status: 200, body: { challenge: "c-1" } });
  });

  test("of a workspace that is not configured is refused, and the id to copy is named", async () => {
    const answer = await town.send(town.envelope({ type: "message" }, "T9"));
    expect([answer.status, answer.body["code"]]).toEqual([404, "not_found"]);
    expect(answer.body["message"]).toContain('account: "T9"');
  });

  test.each<[string, unknown]>([
    ["an unknown event", { type: "event_callback", team_id: "T1", event: { type: "sneeze" } }],
    ["a malformed event", { type: "event_callback", team_id: "T1", event: { type: "message", channel: 7 } }],
    ["an unknown envelope", { type: "app_rate_limited", team_id: "T1" }],
    ["no envelope", []],
  ])("with %s is acknowledged and leads to nothing", async (_name, payload) => {
    expect((await town.send(payload)).status).toBe(200);
    expect(accepted).toEqual([]);
  });

  test("is not acknowledged while it cannot be stored, and is while it never will be", async () => {
    refuse = new WaybillError("store_unavailable", "away");
    expect((await town.send(hello())).status).toBe(503);
    refuse = new WaybillError("idempotency_conflict", "other");
    expect(await town.send(hello())).toEqual({ status: 200, body: { ignored: "idempotency_conflict" } });
  });

  test("whose conversation Slack cannot be asked about is to come again", async () => {
    town.faults.once("conversations.info", { kind: "close", done: false });
    const first = await town.send(hello());
    expect([first.status, first.body["code"]]).toEqual([503, "platform_unavailable"]);
    expect((await town.send(hello())).status).toBe(200);
    expect(accepted).toHaveLength(1);
  });
});

describe("the start", () => {
  test("with a token that Slack refuses fails and names the setting", async () => {
    town.faults.once("auth.test", refusal("invalid_auth"));
    const channel = connect();
    await expect(channel.start?.()).rejects.toMatchObject({
      code: "config_invalid",
      details: { field: "slack.botToken" },
    });
  });

  test("with a token of another workspace names the right account", async () => {
    const channel = connect({ account: "T7" });
    await expect(channel.start?.()).rejects.toMatchObject({
      code: "config_invalid",
      details: { field: "slack.account", use: "T1" },
    });
  });
});
