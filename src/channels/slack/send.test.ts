/** On the emulator; what goes wrong on the way to it is our own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { type Fault, refusal } from "../../../test/support/slack/faults.ts";
import { SlackTown } from "../../../test/support/slack/slack-town.ts";
import { manualClock } from "../../kernel/clock.ts";
import { systemIds } from "../../kernel/ids.ts";
import type { Channel, ChannelState, OutgoingOp, SendOutcome } from "../channel.ts";
import { slack } from "./index.ts";

let town: SlackTown;
let channel: Channel;
let states: ChannelState[];
let room: string;
let count = 0;

const clock = manualClock(Date.now());
const signal = new AbortController().signal;

beforeAll(async () => {
  town = await SlackTown.start({ team: "T1" });
  town.addUser("U1");
  town.deliver = () => Promise.resolve(new Response());
});
afterAll(() => town.stop());
beforeEach(() => {
  room = `C${(count += 1)}`;
  town.addConversation(room);
  states = [];
  channel = slack({
    account: "T1",
    botToken: town.bot.token,
    signingSecret: town.secret,
    apiUrl: town.apiUrl,
    allow: { users: "*", channels: "*", dms: true },
  }).connect(channelPorts({ clock, report: (state) => void states.push(state) }));
});

function opOf(more: Partial<OutgoingOp> & { thread?: string | null } = {}): OutgoingOp {
  const { thread = null, ...rest } = more;
  const id = systemIds.next("op");
  const address = { channel: "slack", account: "T1", conversation: room, thread };
  return {
    id,
    delivery: "dlv_1",
    key: id,
    address,
    kind: "create",
    part: 0,
    text: "hello",
    target: null,
    run: null,
    turn: null,
    attempt: 1,
    ...rest,
  };
}

const send = (op: OutgoingOp): Promise<SendOutcome> => channel.sender.send(op, signal);
const look = (op: OutgoingOp) => channel.sender.reconcile(op, signal);
const texts = (thread: string | null = null): string[] => town.posts(room, thread).map((post) => post.text);

describe("a post", () => {
  test("carries its op, is found by its permalink, pings nobody and unfurls nothing", async () => {
    const op = opOf({ text: "a <!channel> & <@U1>" });
    const sent = await send(op);
    const [post] = town.posts(room);
    expect(post).toMatchObject({ text: "a <!channel> & <@U1>", op: op.key });
    expect(sent).toMatchObject({ kind: "sent", receipt: { platformId: post?.id } });
    expect(sent.kind === "sent" && sent.receipt.permalink).toContain(
      `/archives/${room}/p${post?.id.replace(".", "")}`,
    );
    const params = town.faults.of("chat.postMessage").at(-1)?.params;
    expect(params?.get("text")).toBe("a &lt;!channel&gt; &amp; &lt;@U1&gt;");
    expect([params?.get("unfurl_links"), params?.get("unfurl_media")]).toEqual(["false", "false"]);
  });

  test("is edited and taken away; what is gone need not be taken away", async () => {
    const sent = await send(opOf());
    const target = sent.kind === "sent" ? sent.receipt.platformId : null;
    expect(await send(opOf({ kind: "edit", target, text: "changed" }))).toMatchObject({
      kind: "sent",
      receipt: { platformId: target },
    });
    expect(texts()).toEqual(["changed"]);
    expect(await send(opOf({ kind: "delete", target }))).toMatchObject({ kind: "sent" });
    expect(texts()).toEqual([]);
    expect(await send(opOf({ kind: "delete", target }))).toMatchObject({ kind: "sent" });
    expect(await send(opOf({ kind: "edit", target }))).toMatchObject({ kind: "blocked" });
  });

  test("without a permalink is a post all the same", async () => {
    town.faults.once("chat.getPermalink", { kind: "close", done: false });
    expect(await send(opOf())).toMatchObject({ kind: "sent", receipt: { permalink: null } });
  });
});

describe("blocks", () => {
  const blocksOf = (method: string): unknown[] =>
    town.faults
      .of(method)
      .slice(-2)
      .map(({ params }) => JSON.parse(params.get("blocks") ?? "null") as unknown);
  const markdown = { type: "markdown", text: "**hello**" };

  test("carry the Markdown; in a workspace that does not take them the text is posted alone", async () => {
    town.faults.once("chat.postMessage", refusal("invalid_blocks"));
    const sent = await send(opOf({ text: "**hello**" }));
    expect(blocksOf("chat.postMessage")).toEqual([[markdown], null]);
    const target = sent.kind === "sent" ? sent.receipt.platformId : null;
    town.faults.once("chat.update", refusal("invalid_blocks"));
    expect(await send(opOf({ kind: "edit", target, text: "**hello**" }))).toMatchObject({ kind: "sent" });
    expect(blocksOf("chat.update")).toEqual([[markdown], []]);
    expect(texts()).toEqual(["**hello**"]);
  });
});

describe("a thread", () => {
  test("that is there takes the post, and is asked for once in a while", async () => {
    town.addThread(room, "1.0");
    const asked = town.faults.of("conversations.replies").length;
    for (const text of ["one", "two"])
      expect(await send(opOf({ thread: "1.0", text }))).toMatchObject({ kind: "sent" });
    expect(texts("1.0")).toEqual(["one", "two"]);
    expect(town.faults.of("conversations.replies").length).toBe(asked + 1);
    town.vanish(room, "1.0");
    clock.advance(60_000);
    expect(await send(opOf({ thread: "1.0" }))).toMatchObject({ kind: "blocked" });
  });

  test.each<[string, Fault | null]>([
    ["was never there", null],
    ["is gone, by Slack's word", refusal("thread_not_found")],
  ])("ADDR-9: that %s blocks the post, and nothing is posted at the top level", async (_name, fault) => {
    if (fault) town.faults.once("conversations.replies", fault);
    expect(await send(opOf({ thread: "9.9" }))).toMatchObject({
      kind: "blocked",
      reason: expect.stringContaining("the thread does not exist") as string,
    });
    expect(town.posts(room, "9.9")).toEqual([]);
    expect(texts()).toEqual([]);
  });

  test("that cannot be asked for now waits", async () => {
    town.faults.once("conversations.replies", {
      kind: "answer",
      status: 429,
      headers: { "retry-after": "3" },
    });
    expect(await send(opOf({ thread: "1.0" }))).toMatchObject({ kind: "retry", afterMs: 3_000 });
  });

  test("ADDR-9: whose post Slack shows at the top level is taken back", async () => {
    town.addThread(room, "1.0");
    const stray = await town.as(town.bot.user).chat.postMessage({ channel: room, text: "stray" });
    town.faults.once("chat.postMessage", {
      kind: "answer",
      status: 200,
      body: { ok: true, ts: stray.ts, message: { ts: stray.ts } },
    });
    expect(await send(opOf({ thread: "1.0" }))).toMatchObject({ kind: "blocked" });
    expect(texts()).toEqual([]);
  });
});

describe("what Slack answers", () => {
  test.each<[string, Fault, object]>([
    [
      "429",
      { kind: "answer", status: 429, headers: { "retry-after": "7" } },
      { kind: "retry", afterMs: 7_000 },
    ],
    ["429 without a time", { kind: "answer", status: 429 }, { kind: "retry" }],
    ["503", { kind: "answer", status: 503 }, { kind: "retry" }],
    ["ratelimited", refusal("ratelimited"), { kind: "retry" }],
    ["500, which may come after it was done", { kind: "answer", status: 500 }, { kind: "unclear" }],
    ["internal_error", refusal("internal_error"), { kind: "unclear" }],
    ["no JSON", { kind: "answer", status: 200, body: "<html>" }, { kind: "unclear" }],
    ["no id", { kind: "no-receipt", done: false }, { kind: "unclear" }],
    ["nothing, and the connection is cut", { kind: "close", done: false }, { kind: "unclear" }],
    ["channel_not_found", refusal("channel_not_found"), { kind: "blocked" }],
    [
      "is_archived",
      refusal("is_archived"),
      { kind: "blocked", reason: "the channel is archived (is_archived)" },
    ],
    ["not_in_channel", refusal("not_in_channel"), { kind: "blocked" }],
    [
      "missing_scope",
      refusal("missing_scope", { needed: "chat:write" }),
      { kind: "blocked", reason: expect.stringContaining("chat:write") as string },
    ],
    ["msg_too_long", refusal("msg_too_long"), { kind: "refused" }],
    ["token_revoked", refusal("token_revoked"), { kind: "retry", afterMs: 60_000 }],
  ])("is understood: %s", async (_name, fault, outcome) => {
    town.faults.once("chat.postMessage", fault);
    expect(await send(opOf())).toMatchObject(outcome);
    expect(texts()).toEqual([]);
  });

  test("a token that is revoked turns the channel off, and on again when it works", async () => {
    town.faults.once("chat.postMessage", refusal("token_revoked"), refusal("token_revoked"));
    await send(opOf());
    await send(opOf());
    expect(states).toMatchObject([
      { kind: "off", reason: expect.stringContaining("slack.botToken") as string },
    ]);
    await send(opOf());
    expect(states.slice(1)).toEqual([{ kind: "on" }]);
  });

  test("nothing, in time: unclear; and a Slack that is not there: to be sent again, without a doubt", async () => {
    town.faults.once("chat.postMessage", { kind: "hang", done: true });
    const op = opOf();
    const sending = send(op);
    await town.until("it is posted", () => texts().length === 1);
    clock.advance(15_000);
    expect(await sending).toEqual({ kind: "unclear", reason: "there was no answer within 15000 ms" });
    const other = await SlackTown.start();
    const { apiUrl } = other;
    await other.stop();
    const nowhere = slack({
      account: "T1",
      botToken: "xoxb-secret",
      signingSecret: "s",
      apiUrl,
      allow: { users: "*", channels: "*", dms: true },
    }).connect(channelPorts());
    const outcome = await nowhere.sender.send(opOf(), signal);
    expect(outcome).toMatchObject({ kind: "retry" });
    expect(JSON.stringify(outcome)).not.toContain("secret");
  });
});

describe("an attempt in doubt", () => {
  test.each([null, "1.0"])(
    "is found by its marker, at the top level and in a thread (%s)",
    async (thread) => {
      town.addThread(room, "1.0");
      const op = opOf({ thread });
      town.faults.once("chat.postMessage", { kind: "close", done: true });
      expect(await send(op)).toMatchObject({ kind: "unclear" });
      const [post] = town.posts(room, thread);
      expect(await look(op)).toMatchObject({ kind: "found", receipt: { platformId: post?.id } });
      expect(await look(opOf({ thread }))).toEqual({ kind: "send-again" });
    },
  );

  test("is not found in what another wrote with our marker", async () => {
    const op = opOf();
    const metadata = { event_type: "waybill", event_payload: { delivery: "dlv_1", op: op.key } };
    await town.as("U1").chat.postMessage({ channel: room, text: "forged", metadata });
    expect(await look(op)).toEqual({ kind: "send-again" });
  });

  test("is looked for on all pages, and given up for unknown where they do not end", async () => {
    const op = opOf();
    await send(op);
    const page = { ok: true, messages: [], has_more: true, response_metadata: { next_cursor: "more" } };
    town.faults.once("conversations.history", { kind: "answer", status: 200, body: page });
    // The emulator takes a cursor that it does not know for the first page.
    expect(await look(op)).toMatchObject({ kind: "found" });
    town.faults.always("conversations.history", { kind: "answer", status: 200, body: page });
    expect(await look(opOf())).toMatchObject({ kind: "unknown" });
    town.faults.always("conversations.history", null);
  });

  test.each<[string, Fault, object]>([
    [
      "429",
      { kind: "answer", status: 429, headers: { "retry-after": "3" } },
      { kind: "retry", afterMs: 3_000 },
    ],
    ["a cut connection", { kind: "close", done: false }, { kind: "retry" }],
    ["missing_scope", refusal("missing_scope", { needed: "channels:history" }), { kind: "unknown" }],
    ["channel_not_found", refusal("channel_not_found"), { kind: "send-again" }],
  ])("and the question is answered with %s", async (_name, fault, outcome) => {
    town.faults.once("conversations.history", fault);
    expect(await look(opOf())).toMatchObject(outcome);
  });

  test("of an edit or a deletion may be made again", async () => {
    expect(await look(opOf({ kind: "edit", target: "1.0" }))).toEqual({ kind: "send-again" });
  });
});
