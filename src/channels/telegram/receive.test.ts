import { expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { FakeTelegram } from "../../../test/support/telegram/fake-telegram.ts";
import type { WaybillError } from "../../kernel/errors.ts";
import type { Channel } from "../channel.ts";
import { telegram } from "./telegram-channel.ts";

const secret = "hook-secret_1";
const update = {
  update_id: 1,
  message: {
    message_id: 5,
    from: { id: 11, first_name: "Ann" },
    chat: { id: 11, type: "private" },
    text: "hi",
  },
};

async function connected(): Promise<{ fake: FakeTelegram; channel: Channel; texts: string[] }> {
  const fake = await FakeTelegram.start();
  const texts: string[] = [];
  const factory = telegram({
    botToken: fake.token,
    apiRoot: fake.apiRoot,
    account: "main",
    allow: { users: [11], chats: [], dms: true },
    webhook: { secret },
  });
  const inbox = {
    accept: (incoming: { text: string; place: { address: string } }) => {
      texts.push(incoming.text);
      const { address } = incoming.place;
      return Promise.resolve({
        turn: "turn_1",
        run: "run_1",
        stream: null,
        address,
        message: "msg_1",
        outcome: "queued" as const,
        repeated: false,
      });
    },
    amend: () => Promise.resolve("unknown" as const),
    withdraw: () => Promise.resolve("unknown" as const),
  };
  return { fake, channel: factory.connect(channelPorts({ inbox })), texts };
}

function post(body: string, headers: Record<string, string> = {}, path = "main", method = "POST"): Request {
  const all = { "x-telegram-bot-api-secret-token": secret, ...headers };
  const given = method === "POST" ? { body } : {};
  return new Request(`http://127.0.0.1/channels/telegram/${path}`, { method, headers: all, ...given });
}

test("SECU-2: path, method, secret, size and JSON are checked in this order, and nothing of it reaches the inbox", async () => {
  const { fake, channel, texts } = await connected();
  const codeOf = async (request: Request): Promise<string> => {
    try {
      await channel.handle?.(request);
      return "taken";
    } catch (thrown) {
      return (thrown as WaybillError).code;
    }
  };
  const good = JSON.stringify(update);
  expect(await codeOf(post(good, {}, "other"))).toBe("not_found");
  expect(await codeOf(post(good, {}, "main", "GET"))).toBe("method_not_allowed");
  for (const wrong of ["", "hook-secret_2", `${secret} `.trim() + "x"])
    expect(await codeOf(post(good, { "x-telegram-bot-api-secret-token": wrong }))).toBe("invalid_signature");
  expect(await codeOf(post("x".repeat(1_048_577)))).toBe("body_too_large");
  expect(await codeOf(post("{"))).toBe("invalid_json");
  expect(texts).toEqual([]);
  expect(await codeOf(post(good))).toBe("taken");
  expect(texts).toEqual(["hi"]);
  await fake.down();
});

test("what is malformed, unknown or said by no person is acknowledged and ignored", async () => {
  const { fake, channel, texts } = await connected();
  const { message } = update;
  const bad: unknown[] = [
    [],
    { update_id: "1" },
    { update_id: 1, poll: {} },
    { update_id: 1, message: { ...message, chat: { id: "11", type: "private" } } },
    { update_id: 1, message: { ...message, from: undefined } },
    { update_id: 1, message: { ...message, from: fake.bot } },
    { update_id: 1, message: { ...message, from: { id: 777_000, first_name: "Telegram" } } },
    { update_id: 1, message: { ...message, text: undefined, new_chat_title: "x" } },
  ];
  for (const one of bad) {
    const answer = await channel.handle?.(post(JSON.stringify(one)));
    expect([answer?.status, await answer?.json()]).toEqual([200, { ignored: expect.any(String) }]);
  }
  expect(texts).toEqual([]);
  await fake.down();
});

test("doctor is told of a webhook that is missing, and which command sets it", async () => {
  const { fake, channel } = await connected();
  const [bot, hook] = (await channel.check?.(new AbortController().signal)) ?? [];
  expect(bot).toMatchObject({ ok: true, text: "the bot is @our_bot (700123)" });
  expect(hook).toMatchObject({ ok: false, fix: expect.stringContaining("/channels/telegram/main") });
  expect(JSON.stringify(hook)).not.toContain(secret);
  fake.webhook = { url: "https://bot.example/channels/telegram/main" };
  const found = (await channel.check?.(new AbortController().signal)) ?? [];
  expect(found.map(({ ok }) => ok)).toEqual([true, true]);
  await fake.down();
});

test("the answer as it is written is shown in its post; where that is too often, later", async () => {
  const { fake, channel } = await connected();
  fake.addChat(11, "private");
  const address = { channel: "telegram", account: "main", conversation: "11", thread: null };
  const op = {
    id: "op_1",
    delivery: "dlv_1",
    key: "op_1",
    address,
    kind: "create" as const,
    part: 0,
    text: "…",
  };
  const never = new AbortController().signal;
  await channel.sender.send({ ...op, target: null, run: null, turn: null, attempt: 1 }, never);
  const [post] = fake.posts(11);
  const show = (text: string) =>
    channel.sender.live?.show?.({ address, run: "run_1", target: post?.id ?? "", text }, never);
  await show("some **bold");
  await show("some **bold**");
  expect(fake.posts(11)).toMatchObject([{ text: "some bold", entities: [{ type: "bold" }], edits: 2 }]);
  fake.faults.once("editMessageText", {
    kind: "answer",
    status: 429,
    body: { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 60 } },
  });
  await expect(show("more")).rejects.toThrow("429");
  await show("still more");
  expect(fake.posts(11)[0]?.text).toBe("some bold");
  await fake.down();
});
