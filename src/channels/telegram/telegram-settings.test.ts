import { expect, test } from "vitest";
import type { WaybillError } from "../../kernel/errors.ts";
import { readTelegramOptions, type TelegramOptions } from "./telegram-settings.ts";

const good: TelegramOptions = {
  botToken: "700123:AAsecret",
  allow: { users: [11, "12"], chats: "*", dms: true },
};

function fieldOf(options: object): unknown {
  try {
    readTelegramOptions(options as TelegramOptions);
  } catch (thrown) {
    const error = thrown as WaybillError;
    expect(error.code).toBe("config_invalid");
    expect(error.message).not.toContain("AAsecret");
    return error.details["field"];
  }
  return "none";
}

test("ids become texts, and the account is the bot's id", () => {
  const { account, allow, webhook, listen, maxText } = readTelegramOptions(good);
  expect({ account, allow, webhook, listen, maxText }).toEqual({
    account: "700123",
    allow: { users: ["11", "12"], chats: "*", dms: true },
    webhook: null,
    listen: "mentions",
    maxText: 4_096,
  });
});

test.each([
  [{ botToken: "700123:AAsecret" }, "telegram.allow"],
  [{ ...good, allow: { users: "*", dms: true } }, "telegram.allow.chats"],
  [{ ...good, allow: { ...good.allow, users: ["@ann"] } }, "telegram.allow.users.0"],
  [{ ...good, botToken: "AAsecret" }, "telegram.botToken"],
  [{ ...good, webhook: { secret: "not so" } }, "telegram.webhook.secret"],
  [{ ...good, maxText: 5_000 }, "telegram.maxText"],
  [{ ...good, apiRoot: "ftp://x" }, "telegram.apiRoot"],
  [{ ...good, lissen: "all" }, "telegram.lissen"],
])("the field at fault is named: %#", (options, field) => {
  expect(fieldOf(options)).toBe(field);
});
