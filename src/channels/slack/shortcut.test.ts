import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { SlackAnnex } from "../../../test/support/slack/annex.ts";
import { SlackTown } from "../../../test/support/slack/slack-town.ts";
import { asWaybillError, httpStatusOf } from "../../kernel/errors.ts";
import type { Channel } from "../channel.ts";
import { slack } from "./index.ts";
import { mayBeAnswered } from "./shortcut.ts";

let town: SlackTown;
let annex: SlackAnnex;
let channel: Channel;
let asked: [string, unknown][];
let post: string;

beforeAll(async () => {
  town = await SlackTown.start({ team: "T1" });
  for (const id of ["U1", "U2"]) town.addUser(id);
  town.addConversation("C1");
  town.deliver = () => Promise.resolve(new Response());
  const { ts } = await town.as(town.bot.user).chat.postMessage({ channel: "C1", text: "an answer" });
  post = ts ?? "";
});
afterAll(() => town.stop());
beforeEach(async () => {
  annex = await SlackAnnex.start(town);
  asked = [];
  annex.answers.set("/response", () => new Response("ok"));
  channel = slack({
    account: "T1",
    botToken: town.bot.token,
    signingSecret: town.secret,
    apiUrl: annex.apiUrl,
    allow: { users: ["U1"], channels: ["C1"], dms: true },
  }).connect(
    channelPorts({
      locale: "ko",
      why(id, address) {
        asked.push([id, address]);
        return Promise.resolve("It goes to <here> because of that.");
      },
    }),
  );
  return () => annex.stop();
});

const payload = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: "message_action",
  callback_id: "waybill_why",
  team: { id: "T1" },
  user: { id: "U1" },
  channel: { id: "C1" },
  message: { ts: post, user: town.bot.user, thread_ts: "1.0" },
  ...more,
});

/** By its status; what is said comes after that. */
async function interact(given: unknown, headers: Record<string, string> = {}): Promise<number> {
  const body = `payload=${encodeURIComponent(typeof given === "string" ? given : JSON.stringify(given))}`;
  const signed = town.signed(body, { "content-type": "application/x-www-form-urlencoded", ...headers });
  const url = "http://127.0.0.1/channels/slack/interactive";
  const request = new Request(url, { method: "POST", headers: signed.headers, body });
  try {
    return (await channel.handle?.(request))?.status ?? 0;
  } catch (thrown) {
    return httpStatusOf(asWaybillError(thrown).code);
  }
}

/** What the person alone is told. */
async function told(): Promise<Record<string, string>> {
  await annex.until("the person is told", () => annex.of("chat.postEphemeral").length > 0);
  return Object.fromEntries(annex.of("chat.postEphemeral")[0]?.params ?? []);
}

describe('"Why here?"', () => {
  test("is answered to the person alone, in the thread where it was asked", async () => {
    expect(await interact(payload())).toBe(200);
    expect(await told()).toMatchObject({
      channel: "C1",
      user: "U1",
      text: "It goes to &lt;here&gt; because of that.",
      thread_ts: "1.0",
    });
    const address = { channel: "slack", account: "T1", conversation: "C1", thread: "1.0" };
    expect(asked).toEqual([[post, address]]);
  });

  test("is answered at the address that Slack gave for it, without the token", async () => {
    expect(await interact(payload({ response_url: `${annex.url}/response` }))).toBe(200);
    await annex.until("the person is told", () => annex.of("/response").length === 1);
    expect(annex.of("/response")[0]?.token).toBe("");
    expect([...(annex.of("/response")[0]?.params.keys() ?? [])].join()).toContain(
      '"response_type":"ephemeral"',
    );
    expect(annex.of("chat.postEphemeral")).toEqual([]);
  });

  test.each([
    ["is another's", "https://evil.example/response"],
    ["does not answer well", null],
  ])("is answered by the API where that address %s", async (_name, url) => {
    annex.answers.set("/response", () => new Response("no", { status: 404 }));
    await interact(payload({ response_url: url ?? `${annex.url}/response` }));
    expect(await told()).toMatchObject({ user: "U1" });
  });

  test("of another's post is told to be that, and nothing is looked up", async () => {
    await interact(payload({ message: { ts: "1.0", user: "U2" } }));
    expect((await told())["text"]).toBe("제가 올린 글이 아닙니다.");
    expect(asked).toEqual([]);
  });

  test.each([
    ["person", { user: { id: "U2" } }],
    ["place", { channel: { id: "C2" } }],
  ])("is not answered where the %s is not allowed", async (_name, more) => {
    annex.answers.set("chat.postEphemeral", () => ({ ok: true }));
    await interact(payload(more));
    expect((await told())["text"]).toContain("slack:T1/C");
    expect(asked).toEqual([]);
  });

  test.each<[string, unknown, number]>([
    ["of another workspace", { type: "message_action", team: { id: "T2" } }, 404],
    ["without a workspace", { type: "message_action" }, 404],
    ["that is no JSON", "{", 400],
    ["of another kind", { type: "block_actions", team: { id: "T1" } }, 200],
    ["without a message", { type: "message_action", callback_id: "waybill_why", team: { id: "T1" } }, 200],
  ])("an interaction %s is refused or ignored", async (_name, given, status) => {
    expect(await interact(given)).toBe(status);
    expect([asked, annex.calls]).toEqual([[], []]);
  });

  test("with a wrong signature, or from long ago, is 401", async () => {
    expect(await interact(payload(), { "x-slack-signature": "v0=00" })).toBe(401);
    expect(await interact(payload(), { "x-slack-request-timestamp": "1000" })).toBe(401);
    expect(asked).toEqual([]);
  });
});

test.each([
  ["https://hooks.slack.com/app/T1/1/x", true],
  ["https://hooks.gov.example/app", true],
  ["https://gov.example/app", true],
  ["http://hooks.slack.com/app", false],
  ["https://hooks.slack.com.evil.example/app", false],
  ["https://hooks.slack.com:444/app", false],
  ["https://u@hooks.slack.com/app", false],
  ["http://169.254.169.254/", false],
  ["nothing", false],
])("an answer may go to %s: %s", (url, may) => {
  expect(mayBeAnswered(url, { apiUrl: "https://gov.example/api/" })).toBe(may);
});
