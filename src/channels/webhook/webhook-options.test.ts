import { describe, expect, test } from "vitest";
import { WaybillError } from "../../kernel/errors.ts";
import { webhook } from "./index.ts";
import { readWebhookOptions, type WebhookOptions } from "./webhook-options.ts";

const good: WebhookOptions = {
  url: "https://example.org/waybill",
  secret: "a secret",
  allow: { senders: ["u1"], conversations: "*" },
};

function refusalOf(options: unknown): WaybillError {
  try {
    webhook(options as WebhookOptions);
  } catch (thrown) {
    if (thrown instanceof WaybillError) return thrown;
    throw thrown;
  }
  throw new Error("It was not refused.");
}

describe("webhook({ ... })", () => {
  test("has its defaults", () => {
    expect(readWebhookOptions(good)).toEqual({
      ...good,
      account: "main",
      kind: "unknown",
      self: null,
      preview: false,
      maxText: 4_000,
      timeoutMs: 15_000,
    });
    expect(webhook({ ...good, account: "crm" })).toMatchObject({ kind: "webhook", account: "crm" });
  });

  test.each<[string, unknown]>([
    ["webhook", undefined],
    ["webhook.url", { ...good, url: undefined }],
    ["webhook.url", { ...good, url: "example.org" }],
    ["webhook.url", { ...good, url: "ftp://example.org" }],
    ["webhook.url", { ...good, url: "https://me:pass@example.org" }],
    ["webhook.secret", { ...good, secret: "" }],
    ["webhook.allow", { ...good, allow: undefined }],
    ["webhook.allow", { ...good, allow: "*" }],
    ["webhook.allow.senders", { ...good, allow: { conversations: "*" } }],
    ["webhook.allow.conversations", { ...good, allow: { senders: [], conversations: "all" } }],
    ["webhook.allow.users", { ...good, allow: { ...good.allow, users: [] } }],
    ["webhook.account", { ...good, account: "" }],
    ["webhook.kind", { ...good, kind: "public" }],
    ["webhook.self", { ...good, self: 7 }],
    ["webhook.preview", { ...good, preview: "yes" }],
    ["webhook.maxText", { ...good, maxText: 0 }],
    ["webhook.timeoutMs", { ...good, timeoutMs: 1.5 }],
    ["webhook.urls", { ...good, urls: [] }],
  ])("refuses an unusable setting and names it: %s", (field, options) => {
    const refusal = refusalOf(options);
    expect(refusal.code).toBe("config_invalid");
    expect(refusal.details["field"]).toBe(field);
    expect(refusal.message).toContain(field);
  });

  test("an allow that is left out is not everybody, and the message says how to write it", () => {
    expect(refusalOf({ ...good, allow: undefined }).message).toContain('{ senders: ["..."] or "*"');
  });

  test("a typo is answered with the nearest name, and the secret stands in no message", () => {
    const refusal = refusalOf({ ...good, secret: "hush", timeoutms: 1, url: "no" });
    expect(refusal.message).toContain('did you mean "timeoutMs"?');
    expect(JSON.stringify([refusal.message, refusal.details])).not.toContain("hush");
  });
});
