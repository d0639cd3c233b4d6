/** Telegram by long polling: what the contract of channels, which comes by webhook, does not see. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { telegram, type TelegramOptions } from "../../src/channels/telegram/index.ts";
import type { RunningGateway } from "../../src/gateway/create-gateway.ts";
import { WaybillError } from "../../src/kernel/errors.ts";
import { FakeTelegram } from "../support/telegram/fake-telegram.ts";
import { refusal } from "../support/telegram/faults.ts";
import { startTestApi } from "../support/telegram/test-api.ts";
import type { TestStore } from "../support/stores.ts";
import { Gates, readJson, startGateway, untilChanged } from "./channels.harness.ts";

const ann = { id: 11, first_name: "Ann" };
const bob = { id: 12, first_name: "Bob" };
const eve = { id: 99, first_name: "Eve" };
const group = -1_000_000_000_100;

const sqlite: TestStore = {
  name: "sqlite",
  async fresh() {
    const folder = await mkdtemp(path.join(tmpdir(), "waybill-telegram-store-"));
    return {
      databaseUrl: `file:${path.join(folder, "waybill.db")}`,
      dispose: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    };
  },
};

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function begin(options: Partial<TelegramOptions> = {}) {
  const fake = await FakeTelegram.start();
  ends.push(() => fake.down());
  fake.addChat(11, "private");
  fake.addChat(12, "private");
  fake.addChat(99, "private");
  fake.addChat(group, "supergroup", { username: "our_group" });
  return { fake, ...(await beginGateway(fake, options)) };
}

async function beginGateway(fake: FakeTelegram, options: Partial<TelegramOptions> = {}) {
  const gates = new Gates();
  const channel = telegram({
    botToken: fake.token,
    apiRoot: fake.apiRoot,
    allow: { users: [11, 12], chats: [group], dms: true },
    preview: false,
    timeoutMs: 2_000,
    ...options,
  });
  const { gateway, close } = await startGateway(sqlite, [channel], gates);
  ends.push(close);
  return { gateway, gates, close };
}

async function stateOf(gateway: RunningGateway) {
  const { items } = await readJson<{ items: { kind: string; state: string; reason: string | null }[] }>(
    gateway,
    "/v1/channels",
  );
  return items.find(({ kind }) => kind === "telegram");
}

async function untilState(gateway: RunningGateway, state: string) {
  await new Promise<void>((resolve) => {
    const stop = gateway.parts.states.onChange(() => void look());
    const look = async (): Promise<void> => {
      if ((await stateOf(gateway))?.state !== state) return;
      stop();
      resolve();
    };
    void look();
  });
  return stateOf(gateway);
}

test("ADDR-1: a private chat, a group and its topics at once: each answer is where it was asked", async () => {
  const { fake, gates } = await begin();
  fake.say(11, ann, "wait dm");
  fake.say(group, bob, "@our_bot wait root");
  fake.say(group, bob, "wait topic @our_bot", { topic: 7 });
  await Promise.all(["dm", "root", "topic"].map((key) => gates.started(key)));
  // Somebody speaks elsewhere while the others wait.
  fake.say(12, bob, "hi");
  await fake.until("Bob's answer", () => fake.texts(12).length === 1);
  for (const key of ["topic", "root", "dm"]) gates.open(key);
  await fake.until("all answers", () => fake.posts().length === 4);
  expect(fake.texts(11)).toEqual(["You said: wait dm"]);
  expect(fake.texts(group)).toEqual(["You said: wait root"]);
  expect(fake.texts(group, 7)).toEqual(["You said: wait topic"]);
});

test("CHAN-2 LEDG-13: an update is confirmed after its commit; what was not, another process is given again, once", async () => {
  const { fake, gateway, close } = await begin();
  const { db } = gateway.parts;
  const original = db.do.bind(db);
  const refused = new Promise<void>((resolve) => {
    db.do = (command, input) => {
      if (command.name !== "turns.accept-message") return original(command, input);
      resolve();
      return Promise.reject(new WaybillError("store_unavailable", "The store is away."));
    };
  });
  fake.say(11, ann, "hi");
  await refused;
  expect(fake.updates).toHaveLength(1);
  db.do = original;
  ends.splice(ends.indexOf(close), 1);
  await close();
  expect(fake.updates).toHaveLength(1);

  await beginGateway(fake);
  await fake.until("the answer", () => fake.texts(11).length === 1);
  await fake.until("the confirmation", () => fake.updates.length === 0);
  expect(fake.texts(11)).toEqual(["You said: hi"]);
});

test("in groups only what is meant for the bot is heard; commands of other bots are not", async () => {
  const { fake, gateway } = await begin();
  fake.say(group, ann, "hello all");
  fake.say(group, ann, "/status@other_bot");
  fake.say(group, ann, "/weather");
  fake.say(group, ann, "/status@our_bot");
  fake.say(group, ann, "/help");
  fake.say(group, bob, "and this?", {
    reply_to_message: { from: fake.bot, text: "a post", chat: { id: group } },
  });
  fake.say(group, bob, "@our_bot and that?", { reply_to_message: { from: eve, text: "a secret" } });
  await fake.until("the answers", () => fake.posts().length === 4);
  expect(fake.texts(group)).toEqual(
    expect.arrayContaining([
      expect.stringContaining("no record"),
      expect.stringContaining("These words always work"),
      "You said: > Eve (not on the allow list): a secret\n\nand that?",
      "You said: and this?",
    ]),
  );
  const { items } = await readJson<{ items: unknown[] }>(gateway, "/v1/runs");
  expect(items).toHaveLength(2);
});

test("SECU-1: a stranger is not answered, leaves one record with the name, and no file of theirs is fetched", async () => {
  const { fake, gateway } = await begin();
  fake.files.set("secret", Buffer.from("x"));
  fake.say(99, eve, "stop", { document: { file_id: "secret", file_name: "a.txt", file_size: 1 } });
  fake.say(11, ann, "hi");
  await fake.until("Ann's answer", () => fake.texts(11).length === 1);
  const { items } = await readJson<{ items: Record<string, unknown>[] }>(gateway, "/v1/denials");
  expect(items).toMatchObject([{ sender: "99", name: "Eve", reason: "the sender is not in allow.users" }]);
  expect(fake.texts(99)).toEqual([]);
  expect(fake.faults.of("getFile")).toEqual([]);
});

test("a message that is changed before its run begins is answered as it reads now", async () => {
  const { fake, gates } = await begin();
  fake.say(11, ann, "wait first");
  await gates.started("first");
  const update = fake.say(11, ann, "second");
  fake.push(fake.edited(update, "third"));
  await fake.until("both to be confirmed", () => fake.updates.length === 0);
  gates.open("first");
  await fake.until("both answers", () => fake.texts(11).length === 2);
  expect(fake.texts(11)).toEqual(["You said: wait first", "You said: third"]);
});

test("CHAN-4: pictures, voices and documents reach the agent; what is too large or no file is told", async () => {
  const { fake } = await begin({ maxFileBytes: 10 });
  fake.files.set("p", Buffer.from("jpg"));
  fake.files.set("big", Buffer.alloc(11));
  const photo = [
    { file_id: "small", file_size: 1 },
    { file_id: "p", file_size: 3 },
  ];
  fake.say(11, ann, "", { photo, caption: "files" });
  await fake.until("the picture", () => fake.texts(11).length === 1);
  expect(JSON.parse(fake.texts(11)[0] ?? "")).toEqual([
    { type: "file", mediaType: "image/jpeg", url: "data:image/jpeg;base64,anBn", filename: "photo.jpg" },
  ]);
  fake.say(11, ann, "", { document: { file_id: "big", file_name: "big.pdf", file_size: 11 } });
  fake.say(11, ann, "", { document: { file_id: "big", file_name: "liar.pdf", file_size: 1 } });
  fake.say(11, ann, "", { location: { latitude: 1, longitude: 2 } });
  fake.say(11, ann, "", { voice: { file_id: "gone", mime_type: "audio/ogg" } });
  await fake.until("four notices", () => fake.texts(11).length === 5);
  const told = fake.texts(11).slice(1).join("\n");
  for (const name of ["big.pdf", "liar.pdf", "location", "voice.ogg"])
    expect(told).toContain(`${name} was left out`);
});

test("ADDR-9: a topic that is gone blocks its post, also where Telegram would put it at the top level", async () => {
  const { fake, gateway, gates } = await begin();
  fake.chat(11).ignoresTopics = true;
  for (const [chat, key] of [
    [group, "a"],
    [11, "b"],
  ] as const) {
    fake.say(chat, ann, `@our_bot wait ${key}`, { topic: 5 });
    await gates.started(key);
    fake.chat(chat).topics.delete(5);
    gates.open(key);
  }
  const blocked = async () => {
    const { items } = await readJson<{ items: { address: string; reason: string }[] }>(
      gateway,
      "/v1/deliveries?state=blocked",
    );
    return items;
  };
  await untilChanged(gateway, async () => (await blocked()).length === 2);
  for (const { address, reason } of await blocked()) {
    expect(address).toMatch(/\/5$/);
    expect(reason).toContain("the topic does not exist any more");
  }
  expect(fake.posts()).toEqual([]);
});

test("ADDR-14: a post in a public group is found by its link", async () => {
  const { fake, gateway } = await begin();
  fake.say(group, ann, "@our_bot hi", { topic: 7 });
  await fake.until("the answer", () => fake.texts(group, 7).length === 1);
  const [post] = fake.posts(group, 7);
  const delivered = async () => {
    const { items } = await readJson<{ items: { receipts: { permalink: string }[] }[] }>(
      gateway,
      "/v1/deliveries?state=delivered",
    );
    return items;
  };
  await untilChanged(gateway, async () => (await delivered()).length === 1);
  expect((await delivered())[0]?.receipts).toMatchObject([
    { permalink: `https://t.me/our_group/7/${post?.id}` },
  ]);
});

test("CHAN-3: typing is shown while it works, and what cannot be shown disturbs nothing", async () => {
  const { fake, gates } = await begin();
  fake.faults.always("sendChatAction", refusal(500, "Internal Server Error"));
  fake.say(group, ann, "@our_bot wait t", { topic: 7 });
  await gates.started("t");
  await fake.until("typing", () => fake.faults.of("sendChatAction").length === 1);
  expect(fake.faults.of("sendChatAction")[0]?.params).toEqual({
    chat_id: group,
    message_thread_id: 7,
    action: "typing",
  });
  gates.open("t");
  await fake.until("the answer", () => fake.texts(group, 7).length === 1);
});

test("one poller a token: a second gateway stands by, says so, and takes over", async () => {
  const one = await begin();
  const two = await beginGateway(one.fake);
  expect(await stateOf(one.gateway)).toMatchObject({ state: "on", reason: null });
  const standing = await stateOf(two.gateway);
  expect(standing).toMatchObject({ state: "standing-by" });
  expect(standing?.reason).toContain("polls with telegram.botToken");
  expect(standing?.reason).not.toContain("AAsecret");
  ends.splice(ends.indexOf(one.close), 1);
  await one.close();
  two.gateway.parts.holds.beat();
  await untilState(two.gateway, "on");
  one.fake.say(11, ann, "hi");
  await one.fake.until("the answer of the second", () => one.fake.texts(11).length === 1);
});

test("a webhook that is set elsewhere, and another poller, are said and tried again", async () => {
  const fake = await FakeTelegram.start();
  ends.push(() => fake.down());
  fake.addChat(11, "private");
  fake.webhook = { url: "https://other.example/secret-path" };
  const { gateway } = await beginGateway(fake);
  const off = await stateOf(gateway);
  expect(off).toMatchObject({ state: "off" });
  expect(off?.reason).toContain("other.example");
  expect(off?.reason).not.toContain("secret-path");
  fake.webhook = null;
  fake.faults.once("getUpdates", refusal(409, "Conflict: terminated by other getUpdates request"));
  expect((await untilState(gateway, "standing-by"))?.reason).toContain("another program polls");
  await untilState(gateway, "on");
});

test("SECU-2: a token that Telegram refuses is named without being shown; other channels go on", async () => {
  const fake = await FakeTelegram.start();
  ends.push(() => fake.down());
  const { gateway } = await beginGateway(fake, { botToken: "700123:AAwrongwrongwrong" });
  const state = await stateOf(gateway);
  expect(state).toMatchObject({ state: "off" });
  expect(state?.reason).toContain("telegram.botToken");
  expect(state?.reason).not.toContain("AAwrong");
});

test("with telegram-test-api: asked and answered in a private chat, the working post edited into the answer", async () => {
  const api = await startTestApi();
  ends.push(() => api.stop());
  const token = "666:AAtest";
  const gates = new Gates();
  const channel = telegram({
    botToken: token,
    apiRoot: api.apiRoot,
    allow: { users: [42], chats: [], dms: true },
    timeoutMs: 2_000,
  });
  const { gateway, close } = await startGateway(sqlite, [channel], gates);
  ends.push(close);
  const person = api.server.getClient(token, { userId: 42, chatId: 42, firstName: "Ann" });
  await person.sendMessage(person.makeMessage("wait emulator"));
  await gates.started("emulator");
  gates.open("emulator");
  const delivered = async () =>
    (await readJson<{ items: { receipts: unknown[] }[] }>(gateway, "/v1/deliveries?state=delivered")).items;
  await untilChanged(gateway, async () => (await delivered()).length === 1);
  const { botMessages } = api.server.storage;
  expect(botMessages.map(({ message }) => [Number(message.chat_id), message.text])).toEqual([
    [42, "You said: wait emulator"],
  ]);
  expect((await delivered())[0]?.receipts).toMatchObject([{ platformId: String(botMessages[0]?.messageId) }]);
});
