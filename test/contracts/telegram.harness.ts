/** Telegram, as the contract of channels needs it: a fake of our own, since `telegram-test-api` never fails. */
import { telegram } from "../../src/channels/telegram/index.ts";
import { parseAddress } from "../../src/address/address.ts";
import type { ChannelFactory, OutgoingOp } from "../../src/channels/channel.ts";
import { errorCodes, type ErrorCode } from "../../src/kernel/error-codes.ts";
import { FakeTelegram, type Update } from "../support/telegram/fake-telegram.ts";
import { type Fault, refusal } from "../support/telegram/faults.ts";
import type { PeerAnswer } from "../support/webhook-peer.ts";
import { deliveriesOf, type Store, untilDelivery } from "./channel.contract.ts";
import {
  type Acknowledged,
  type ChannelHarness,
  Gates,
  maxText,
  nextId,
  type PlatformPeer,
  type Post,
  startGateway,
} from "./channels.harness.ts";

const secret = "hook-secret_1";
const people: Readonly<Record<string, number>> = { u1: 11, u2: 12, stranger: 99 };

export async function telegramHarness(
  store: Store,
  options: { preview?: boolean } = {},
): Promise<ChannelHarness> {
  const gates = new Gates();
  const fake = await FakeTelegram.start();
  const attempts: OutgoingOp[] = [];
  const channel = telegram({
    botToken: fake.token,
    apiRoot: fake.apiRoot,
    account: "main",
    allow: { users: [11, 12], chats: "*", dms: true },
    webhook: { secret },
    listen: "all",
    preview: options.preview ?? false,
    maxText,
    timeoutMs: 400,
  });
  const { gateway, close } = await startGateway(store, [watched(channel, attempts)], gates);
  const ids = new Numbers();
  const post = async (update: Update): Promise<Acknowledged> => {
    const request = new Request("http://127.0.0.1:8787/channels/telegram/main", {
      method: "POST",
      headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
      body: JSON.stringify(update),
    });
    return acknowledged(await gateway.fetch(request));
  };
  const seen = (address: string): Post[] => {
    const { conversation, thread } = parseAddress(address);
    return fake
      .posts(Number(conversation), thread === null ? null : Number(thread))
      .map(({ id, text }) => ({ id, text }));
  };
  const say: ChannelHarness["say"] = async (saying) => {
    const { conversation, thread, text = "", id = nextId(), sender = "u1", files = [] } = saying;
    const chat = ids.chat(conversation);
    fake.addChat(chat, "supergroup");
    const person = { id: people[sender] ?? 0, first_name: sender };
    const [file] = files;
    const update = fake.message(chat, person, text, {
      topic: thread === undefined ? undefined : ids.topic(thread),
      id: ids.message(id),
      ...(file ? documentOf(fake, file, text) : {}),
    });
    return post(update);
  };
  const harness: ChannelHarness = {
    gateway,
    gates,
    peer: telegramPlatform(fake, ids, attempts),
    denial: "the sender is not in allow.users",
    lacks: {},
    idOf: (name) => String(people[name] ?? ids.chat(name)),
    address(conversation, thread) {
      const topic = thread === undefined ? "" : `/${ids.topic(thread)}`;
      return `telegram:main/${ids.chat(conversation)}${topic}`;
    },
    say,
    posts: (address) => Promise.resolve(seen(address)),
    async untilPosts(address, count) {
      await fake.until(`${count} posts at ${address}`, () => seen(address).length >= count);
      return seen(address);
    },
    async echo(address, { text }) {
      const { conversation } = parseAddress(address);
      for (const from of [fake.bot, { id: 500, first_name: "Other", is_bot: true }]) {
        const { body } = await post(fake.message(Number(conversation), from, text));
        if (!("ignored" in body)) throw new Error("A post of a bot was taken in.");
      }
    },
    async close() {
      await close();
      await fake.down();
    },
  };
  harness.lacks.reconcile = {
    reason: "Telegram knows no idempotency key, and a bot cannot read what stands in a chat",
    async proof() {
      const before = attempts.length;
      fake.faults.once("sendMessage", { kind: "close", done: true });
      const asked = await say({ conversation: `doubt ${before}`, text: "hi" });
      const delivery = await untilDelivery(harness, asked.body.run, "unknown");
      if (fake.posts(ids.chat(`doubt ${before}`)).length !== 1) throw new Error("It was sent again.");
      const [stored] = await deliveriesOf(harness, asked.body.run);
      if (stored?.id !== delivery.id || !delivery.reason?.includes("a bot cannot look"))
        throw new Error(`It does not say why: ${delivery.reason}`);
    },
  };
  return harness;
}

/** Telegram has numbers for what tests have names for. */
class Numbers {
  readonly #numbers = new Map<string, number>();

  #of(name: string): number {
    const known = this.#numbers.get(name) ?? this.#numbers.size + 1;
    this.#numbers.set(name, known);
    return known;
  }

  chat(name: string): number {
    return -(1_000_000_000_000 + this.#of(`chat ${name}`));
  }

  topic(name: string): number {
    return 10 + this.#of(`topic ${name}`);
  }

  /** Above what the fake itself gives to posts. */
  message(name: string): number {
    return 1_000_000 + this.#of(`message ${name}`);
  }
}

/** The channel as it is, with every op that it is given noted: on Telegram an attempt has no name. */
function watched(factory: ChannelFactory, attempts: OutgoingOp[]): ChannelFactory {
  return {
    ...factory,
    connect(ports) {
      const channel = factory.connect(ports);
      const send = channel.sender.send.bind(channel.sender);
      channel.sender.send = (op, signal) => {
        attempts.push(op);
        return send(op, signal);
      };
      return channel;
    },
  };
}

function documentOf(
  fake: FakeTelegram,
  { url, mediaType, filename }: { url: string; mediaType: string; filename: string },
  caption: string,
): Record<string, unknown> {
  const bytes = Buffer.from(url.slice(url.indexOf(",") + 1), "base64");
  fake.files.set(`documents/${filename}`, bytes);
  const document = {
    file_id: `documents/${filename}`,
    file_name: filename,
    mime_type: mediaType,
    file_size: bytes.byteLength,
  };
  return { document, caption, text: undefined, entities: undefined };
}

/**
 * Telegram reads only the status, and repeats whatever is not 2xx. What the contract asks for by status stands in the
 * body of the acknowledgement.
 */
async function acknowledged(response: Response): Promise<Acknowledged> {
  const answer = (await response.json()) as Acknowledged["body"] & { ignored?: string };
  if (response.status !== 200) return { status: response.status, body: answer };
  const { ignored } = answer;
  if (ignored !== undefined && ignored in errorCodes) {
    return { status: errorCodes[ignored as ErrorCode].status, body: { ...answer, code: ignored } };
  }
  return { status: answer.run === null || answer.run === undefined ? 200 : 202, body: answer };
}

const sends = "sendMessage editMessageText";

function telegramPlatform(fake: FakeTelegram, ids: Numbers, attempts: OutgoingOp[]): PlatformPeer {
  return {
    dedupes: false,
    once: (...answers) => Promise.resolve(fake.faults.once(sends, ...answers.map(toFault))),
    // What was posted can never be asked for.
    mute: () => Promise.resolve(),
    refuse() {
      fake.faults.once(sends, refusal(400, "Bad Request: message is too long"));
      return Promise.resolve(["message is too long"]);
    },
    gone(conversation) {
      const chat = fake.addChat(ids.chat(conversation), "supergroup");
      chat.gone = refusal(403, "Forbidden: bot was kicked from the supergroup chat");
      return Promise.resolve(["the bot is not in this chat any more", "kicked"]);
    },
    kill: () => fake.down(),
    restart: () => fake.up(),
    sync: () => Promise.resolve(),
    count: () => fake.posts().length,
    attempts: (conversation) =>
      fake.faults
        .of("sendMessage")
        .filter(({ params }) => params["chat_id"] === ids.chat(conversation))
        .map(({ token }) => ({ key: undefined, signed: token === fake.token })),
    sends: (delivery) => attempts.filter((op) => op.delivery === delivery).length,
  };
}

function toFault(answer: PeerAnswer): Fault {
  switch (answer.kind) {
    case "status":
      return refusal(
        answer.status,
        "Too Many Requests: retry later",
        answer.retryAfter === undefined ? {} : { retry_after: Number(answer.retryAfter) },
      );
    case "hang":
    case "close":
      return { kind: answer.kind, done: false };
    case "accept-hang":
      return { kind: "hang", done: true };
    case "accept-close":
      return { kind: "close", done: true };
    case "accept-no-id":
      return { kind: "no-receipt", done: true };
  }
}
