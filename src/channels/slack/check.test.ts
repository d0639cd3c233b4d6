import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { SlackAnnex } from "../../../test/support/slack/annex.ts";
import { SlackTown } from "../../../test/support/slack/slack-town.ts";
import type { ChannelFinding } from "../channel.ts";
import { slack, type SlackOptions } from "./index.ts";
import { botEvents, botScopes, slackManifest } from "./manifest.ts";

let town: SlackTown;
let annex: SlackAnnex;

beforeAll(async () => {
  town = await SlackTown.start({ team: "T1" });
  annex = await SlackAnnex.start(town);
  town.addConversation("C1");
});
afterAll(async () => {
  await annex.stop();
  await town.stop();
});
beforeEach(() => annex.answers.clear());

/** By its token: the bot's, and the app's. */
function answerAuth(
  bot: Record<string, unknown>,
  scopes?: string,
  app?: Record<string, unknown>,
  appScopes = "",
): void {
  annex.answers.set("auth.test", ({ token }) => {
    const [said, granted] = token === "xapp-1" ? [app, appScopes] : [bot, scopes];
    return Response.json(said, { headers: granted === undefined ? {} : { "x-oauth-scopes": granted } });
  });
}
const bot = { ok: true, team_id: "T1", team: "Acme", user: "ada", user_id: "UBOT", bot_id: "B1" };
const all = Object.keys(botScopes).join(",");

async function findings(more: Partial<SlackOptions> = {}): Promise<ChannelFinding[]> {
  const channel = slack({
    account: "T1",
    botToken: town.bot.token,
    signingSecret: town.secret,
    apiUrl: annex.apiUrl,
    allow: { users: "*", channels: "*", dms: true },
    ...more,
  }).connect(channelPorts());
  return (await channel.check?.(new AbortController().signal)) ?? [];
}

describe("a check", () => {
  test("of what is right says who the bot is, and that nothing is lacking", async () => {
    answerAuth(bot, all);
    expect(await findings()).toEqual([
      { ok: true, text: "the bot is ada in Acme" },
      { ok: true, text: "the bot's token has all scopes that are needed" },
    ]);
  });

  test("names each scope that is lacking, and what it is for", async () => {
    answerAuth(bot, all.replace("files:read,", "").replace("im:history", "im:write"));
    const [, lacking] = await findings();
    expect(lacking).toMatchObject({
      ok: false,
      text: "the bot's token lacks im:history (the same in direct messages), files:read (to read files that people send)",
      fix: expect.stringContaining("Add im:history, files:read under OAuth & Permissions") as string,
    });
  });

  test.each<[string, Record<string, unknown> | null, string]>([
    ["a token that is refused", { ok: false, error: "token_revoked" }, "slack.botToken is of no use"],
    ["a token of another workspace", { ...bot, team_id: "T2" }, 'slack.account is "T1"'],
    ["a Slack that cannot be reached", null, "could not be asked who the bot is"],
  ])("of %s says so, and asks nothing more of it", async (_name, said, text) => {
    if (said) answerAuth(said);
    else annex.answers.set("auth.test", () => new Response("", { status: 503 }));
    annex.calls.length = 0;
    const found = await findings({ allow: { users: "*", channels: ["C1"], dms: true } });
    expect(found).toMatchObject([{ ok: false, text: expect.stringContaining(text) as string }]);
    expect(found[0]?.fix).toBeDefined();
    expect(annex.calls.map(({ method }) => method)).toEqual(["auth.test"]);
  });

  test("looks at the app token without asking for a connection", async () => {
    const app = { ok: true, app_id: "A1", app_name: "Ada" };
    answerAuth(bot, all, app, "connections:write,authorizations:read");
    annex.calls.length = 0;
    expect((await findings({ appToken: "xapp-1" })).at(-1)).toEqual({
      ok: true,
      text: "slack.appToken is good",
    });
    expect(annex.of("apps.connections.open")).toEqual([]);
    answerAuth(bot, all, app, "authorizations:read");
    expect((await findings({ appToken: "xapp-1" })).at(-1)).toMatchObject({
      ok: false,
      text: "slack.appToken lacks connections:write",
    });
    answerAuth(bot, all, { ok: false, error: "invalid_auth" });
    expect((await findings({ appToken: "xapp-1" })).at(-1)).toMatchObject({
      ok: false,
      text: "slack.appToken is of no use: Slack answered invalid_auth",
    });
  });

  test("says in which channels the bot is not", async () => {
    const of = (channels: string[]) => findings({ allow: { users: "*", channels, dms: true } });
    expect((await of(["C1"])).at(-1)).toEqual({
      ok: true,
      text: "the bot is in each of slack.allow.channels",
    });
    annex.answers.set("conversations.info", ({ params }) => {
      const channel = { id: params.get("channel"), name: "news" };
      if (params.get("channel") === "C3") return { ok: false, error: "channel_not_found" };
      return { ok: true, channel: { ...channel, is_member: false } };
    });
    expect((await of(["C2", "C3"])).slice(-2)).toMatchObject([
      { ok: false, text: expect.stringContaining("C2 (#news)") as string },
      { ok: false, text: expect.stringContaining("not in C3") as string },
    ]);
  });
});

describe("the manifest", () => {
  test("has every scope and event that is needed, and the shortcut", () => {
    expect(slackManifest({ name: "Ada" })).toMatchObject({
      display_information: { name: "Ada" },
      features: { shortcuts: [{ type: "message", callback_id: "waybill_why" }] },
      oauth_config: { scopes: { bot: Object.keys(botScopes) } },
      settings: { event_subscriptions: { bot_events: botEvents }, socket_mode_enabled: true },
    });
  });

  test("with an address has events over HTTP, at the paths of the channel", () => {
    const { settings } = slackManifest({ url: "https://w.example/base/" });
    expect(settings).toMatchObject({
      event_subscriptions: { request_url: "https://w.example/base/channels/slack/events" },
      interactivity: { is_enabled: true, request_url: "https://w.example/base/channels/slack/interactive" },
      socket_mode_enabled: false,
    });
  });

  test.each([
    { url: "http://w.example" },
    { url: "w.example" },
    { url: "https://w.example/?a" },
    { name: " " },
    { name: "x".repeat(36) },
  ])("%o is refused", (options) => {
    expect(() => slackManifest(options)).toThrow(
      expect.objectContaining({ code: "invalid_request" }) as Error,
    );
  });
});
