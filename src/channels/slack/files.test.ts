import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { SlackAnnex } from "../../../test/support/slack/annex.ts";
import { SlackTown } from "../../../test/support/slack/slack-town.ts";
import { type ManualClock, manualClock } from "../../kernel/clock.ts";
import { mayHaveToken } from "./files.ts";
import type { SlackMessage } from "./read-event.ts";
import { readSlackOptions } from "./slack-settings.ts";
import { Workspace } from "./workspace.ts";

let town: SlackTown;
let annex: SlackAnnex;
let elsewhere: SlackAnnex;
let clock: ManualClock;
let workspace: Workspace;

beforeAll(async () => {
  town = await SlackTown.start({ team: "T1" });
  annex = await SlackAnnex.start(town);
  elsewhere = await SlackAnnex.start(town);
});
afterAll(async () => {
  await elsewhere.stop();
  await annex.stop();
  await town.stop();
});
beforeEach(() => {
  annex.answers.clear();
  annex.calls.length = 0;
  clock = manualClock();
  const allow = { users: "*", channels: "*", dms: true } as const;
  const options = { account: "T1", botToken: "xoxb-1", signingSecret: "s", allow, maxFileBytes: 100 };
  workspace = new Workspace(readSlackOptions({ ...options, apiUrl: annex.apiUrl }), channelPorts({ clock }));
});

function put(
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): object {
  annex.answers.set(`/files/${name}`, () => new Response(content, { headers }));
  return fileOf(name);
}
function fileOf(name: string, more: Record<string, unknown> = {}): object {
  return { name, mimetype: "text/plain", url_private: `${annex.url}/files/${name}`, ...more };
}
const take = (files: unknown[], ts = "1.0") =>
  workspace.files.take({ conversation: "C1", ts, files } as unknown as SlackMessage);

describe("files of a message", () => {
  test("are fetched with the bot's token, and carried in the message", async () => {
    const bytes = new Uint8Array([0, 255, 7]);
    const png = { ...put("p.png", bytes), mimetype: "image/png" };
    expect(await take([put("a.txt", "hi"), png])).toEqual({
      parts: [
        { type: "file", mediaType: "text/plain", url: "data:text/plain;base64,aGk=", filename: "a.txt" },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AP8H", filename: "p.png" },
      ],
      leftOut: [],
    });
    expect(annex.calls.map(({ token }) => token)).toEqual(["xoxb-1", "xoxb-1"]);
  });

  test("together have a limit: whether a file says its size or not, what does not fit is left out", async () => {
    const { parts, leftOut } = await take([
      put("a", "x".repeat(60)),
      put("b", "x".repeat(41)),
      { ...put("c", "x"), size: 41 },
      put("d", "x".repeat(40)),
    ]);
    expect(parts.map((part) => part.type === "file" && part.filename)).toEqual(["a", "d"]);
    const limit = { reason: "parts.reason.too_large", values: { limit: "0.1 kB" } };
    expect(leftOut).toEqual([
      { name: "b", ...limit },
      { name: "c", ...limit },
    ]);
    expect(annex.of("/files/c")).toEqual([]);
  });

  test("beyond ten are left out", async () => {
    const { parts, leftOut } = await take(Array.from({ length: 12 }, (_, n) => put(`f${n}`, "x")));
    expect(parts).toHaveLength(10);
    expect(leftOut.map(({ name, reason }) => [name, reason])).toEqual([
      ["f10", "parts.reason.too_many"],
      ["f11", "parts.reason.too_many"],
    ]);
  });

  test.each<[string, unknown]>([
    ["without an address", { name: "a" }],
    ["that is no file", 7],
    ["whose address is none", { name: "a", url_private: "file:///etc/passwd" }],
  ])("%s are left out", async (_name, file) => {
    expect((await take([file])).leftOut).toMatchObject([{ reason: "parts.reason.unreadable" }]);
    expect(annex.calls).toEqual([]);
  });

  test("at another host are never asked for with the token, nor is a redirect followed there", async () => {
    elsewhere.answers.set("/files/a", () => new Response("secret"));
    const away = fileOf("a", { url_private: `${elsewhere.url}/files/a` });
    annex.answers.set("/files/b", () => Response.redirect(`${elsewhere.url}/files/a`));
    const { parts, leftOut } = await take([away, fileOf("b")]);
    expect([parts, leftOut.map(({ name }) => name)]).toEqual([[], ["a", "b"]]);
    expect(elsewhere.calls).toEqual([]);
  });

  test("that lie in somebody's drive are handed on as their link", async () => {
    const file = {
      name: "doc",
      mimetype: "text/html",
      is_external: true,
      url_private: "https://drive.example/d",
    };
    expect(await take([file])).toEqual({
      parts: [{ type: "file", mediaType: "text/html", url: "https://drive.example/d", filename: "doc" }],
      leftOut: [],
    });
  });

  test("for which Slack sends its page to log in, an error or nothing are left out", async () => {
    const page = put("a", "<html>log in</html>", { "content-type": "text/html; charset=utf-8" });
    annex.answers.set("/files/b", () => new Response("no", { status: 403 }));
    annex.answers.set("/files/c", () => new Promise(() => {}));
    const taken = take([page, fileOf("b"), fileOf("c")]);
    await annex.until("all are asked for", () => annex.calls.length === 3);
    clock.advance(15_000);
    expect((await taken).leftOut.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  test("are fetched once for a message, its repetition and its mention twin", async () => {
    const file = put("a", "hi");
    const [one, two] = await Promise.all([take([file]), take([file])]);
    expect(one).toBe(two);
    expect(annex.calls).toHaveLength(1);
    await take([file], "2.0");
    expect(annex.calls).toHaveLength(2);
  });
});

test.each([
  ["https://files.slack.com/files-pri/T1-F1/a.pdf", true],
  ["https://slack.com/a", true],
  ["https://acme.slack.com/a", true],
  ["https://gov.example/a", true],
  ["https://files.gov.example/a", true],
  ["http://files.slack.com/a", false],
  ["https://files.slack.com:444/a", false],
  ["https://slack.com.evil.example/a", false],
  ["https://evilslack.com/a", false],
  ["https://u:p@files.slack.com/a", false],
  ["https://169.254.169.254/latest", false],
  ["no url", false],
])("the token may go to %s: %s", (url, may) => {
  expect(mayHaveToken(url, { apiUrl: "https://gov.example/api/" })).toBe(may);
});
