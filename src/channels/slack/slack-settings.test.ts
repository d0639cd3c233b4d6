import { describe, expect, test } from "vitest";
import { WaybillError } from "../../kernel/errors.ts";
import { slack } from "./index.ts";
import { readSlackOptions, type SlackOptions } from "./slack-settings.ts";

const good: SlackOptions = {
  account: "T1",
  botToken: "xoxb-1",
  signingSecret: "hush",
  allow: { users: ["U1"], channels: "*", dms: true },
};

function refusalOf(options: unknown): WaybillError {
  try {
    slack(options as SlackOptions);
  } catch (thrown) {
    if (thrown instanceof WaybillError) return thrown;
    throw thrown;
  }
  throw new Error("It was not refused.");
}

describe("slack({ ... })", () => {
  test("has its defaults", () => {
    expect(readSlackOptions(good)).toEqual({
      ...good,
      appToken: null,
      apiUrl: "https://slack.com/api/",
      answerIn: "thread",
      listen: "mentions",
      preview: true,
      maxText: 3_500,
      maxFileBytes: 1_048_576,
      timeoutMs: 15_000,
    });
    expect(slack(good)).toMatchObject({ kind: "slack", account: "T1" });
  });

  test.each<[string, unknown]>([
    ["slack", undefined],
    ["slack.account", { ...good, account: undefined }],
    ["slack.account", { ...good, account: "" }],
    ["slack.botToken", { ...good, botToken: "xoxp-1" }],
    ["slack.signingSecret", { ...good, signingSecret: undefined }],
    ["slack.signingSecret", { ...good, signingSecret: "" }],
    ["slack.appToken", { ...good, appToken: "xoxb-1" }],
    ["slack.apiUrl", { ...good, apiUrl: "slack.com" }],
    ["slack.apiUrl", { ...good, apiUrl: "https://a:b@slack.com" }],
    ["slack.allow", { ...good, allow: undefined }],
    ["slack.allow.users", { ...good, allow: { channels: [], dms: true } }],
    ["slack.allow.channels", { ...good, allow: { ...good.allow, channels: "all" } }],
    ["slack.allow.dms", { ...good, allow: { ...good.allow, dms: "yes" } }],
    ["slack.allow.senders", { ...good, allow: { ...good.allow, senders: [] } }],
    ["slack.answerIn", { ...good, answerIn: "channel" }],
    ["slack.listen", { ...good, listen: "none" }],
    ["slack.maxText", { ...good, maxText: 50_000 }],
    ["slack.timeoutMs", { ...good, timeoutMs: 0 }],
    ["slack.tokens", { ...good, tokens: [] }],
  ])("refuses an unusable setting and names it: %s", (field, options) => {
    const refusal = refusalOf(options);
    expect(refusal.code).toBe("config_invalid");
    expect(refusal.details["field"]).toBe(field);
    expect(refusal.message).toContain(field);
  });

  test("an allow that is left out is not everybody, and the message says how to write it", () => {
    expect(refusalOf({ ...good, allow: undefined }).message).toContain('{ users: ["U…"] or "*"');
  });

  test("no secret stands in a message", () => {
    const refusal = refusalOf({ ...good, botToken: "xapp-secret", signingSecret: "hush", timeoutms: 1 });
    expect(refusal.message).toContain('did you mean "timeoutMs"?');
    expect(JSON.stringify([refusal.message, refusal.details])).not.toMatch(/hush|xapp-secret/);
  });
});
