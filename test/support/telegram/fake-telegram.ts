/**
 * A Telegram of the test's own, by core.telegram.org/bots/api: chats of all kinds, topics, people, edits, files, long
 * polling with offsets, webhooks, and faults. For what `telegram-test-api` lacks.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Fault, Faults, refusal } from "./faults.ts";

export interface Chat {
  id: number;
  type: "private" | "group" | "supergroup" | "channel";
  title?: string;
  username?: string;
  topics: Set<number>;
  /** Why the bot may not write here (any more). */
  gone: Fault | null;
  /** As private chats of Telegram were seen to do it: a topic that is not there is not looked at. */
  ignoresTopics: boolean;
  messages: number;
}

export interface Person {
  id: number;
  first_name: string;
  is_bot?: boolean;
  username?: string;
}

export interface FakePost {
  id: string;
  chat: number;
  topic: number | null;
  text: string;
  entities: { type: string; offset: number; length: number; url?: string; language?: string }[];
  edits: number;
}

export type Update = { update_id: number } & Record<string, unknown>;

interface Said {
  topic?: number | undefined;
  /** Default: the next one of the chat. */
  id?: number;
  [field: string]: unknown;
}

export class FakeTelegram {
  readonly token = "700123:AAsecretsecretsecret";
  readonly bot = { id: 700_123, is_bot: true, first_name: "Bot", username: "our_bot" };
  readonly faults = new Faults();
  /** Updates that nobody has confirmed. */
  updates: Update[] = [];
  webhook: { url: string; secret_token?: string } | null = null;
  readonly files = new Map<string, Buffer>();
  readonly #chats = new Map<number, Chat>();
  #posts: FakePost[] = [];
  #updateId = 1_000;
  #server: Server | null = null;
  #port = 0;
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();
  #poll: { answer: (fault: Fault | null) => void } | null = null;

  static async start(): Promise<FakeTelegram> {
    const fake = new FakeTelegram();
    await fake.up();
    return fake;
  }

  get apiRoot(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** At the same port as before. */
  async up(): Promise<void> {
    const server = createServer((request, response) => void this.#handle(request, response));
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Nothing gets through; what was posted stays. */
  async down(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = null;
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(server, "close");
  }

  addChat(id: number, type: Chat["type"], more: Partial<Chat> = {}): Chat {
    const chat = this.#chats.get(id) ?? {
      id,
      type,
      ...(type === "private" ? {} : { title: `chat ${id}` }),
      topics: new Set(),
      gone: null,
      ignoresTopics: false,
      messages: 0,
      ...more,
    };
    this.#chats.set(id, chat);
    return chat;
  }

  chat(id: number): Chat {
    const chat = this.#chats.get(id);
    if (!chat) throw new Error(`There is no chat ${id}.`);
    return chat;
  }

  /** An update with something that a person says; it is not given to anybody yet. */
  message(chatId: number, from: Person, text: string, { topic, id, ...more }: Said = {}): Update {
    const chat = this.chat(chatId);
    if (id === undefined) chat.messages += 1;
    if (topic !== undefined) chat.topics.add(topic);
    const { type, title, username } = chat;
    const body = {
      message_id: id ?? chat.messages,
      from,
      chat: { id: chatId, type, title, username },
      date: 1_700_000_000,
      ...(text === "" ? {} : { text, entities: entitiesOf(text) }),
      ...(topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }),
      ...more,
    };
    return { update_id: (this.#updateId += 1), message: body };
  }

  /** Says something, for whoever polls. */
  say(chatId: number, from: Person, text: string, said: Said = {}): Update {
    const update = this.message(chatId, from, text, said);
    this.push(update);
    return update;
  }

  push(update: Update): void {
    this.updates.push(update);
    this.#poll?.answer(null);
  }

  /** The same message with other words. */
  edited(update: Update, text: string): Update {
    const { message } = update;
    const body = { ...(message as object), text, entities: entitiesOf(text), edit_date: 1_700_000_001 };
    return { update_id: (this.#updateId += 1), edited_message: body };
  }

  posts(chat?: number, topic: number | null = null): FakePost[] {
    return chat === undefined
      ? this.#posts
      : this.#posts.filter((post) => post.chat === chat && post.topic === topic);
  }

  texts(chat: number, topic: number | null = null): string[] {
    return this.posts(chat, topic).map(({ text }) => text);
  }

  /** Resolves when the condition holds; it is looked at after every call of the gateway. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const told = AbortSignal.timeout(20_000);
    while (!holds()) {
      if (told.aborted) throw new Error(`Waited in vain for: ${what}. Posts: ${JSON.stringify(this.#posts)}`);
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
        told.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const path = decodeURIComponent(request.url ?? "");
    const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(path);
    if (file) return this.#download(file[1] ?? "", file[2] ?? "", response);
    const [, token = "", method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    const text = Buffer.concat(chunks).toString("utf8");
    const params = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    const fault = this.faults.take({ method, params, token });
    const answer = await this.#answer(method, params, token, fault);
    if (answer === "close") response.destroy();
    else if (answer !== "hang") reply(response, answer);
    this.#tell();
  }

  #download(token: string, path: string, response: ServerResponse): void {
    const bytes = token === this.token ? this.files.get(path) : undefined;
    response.writeHead(bytes ? 200 : 404, { connection: "close" }).end(bytes ?? "");
  }

  async #answer(
    method: string,
    params: Record<string, unknown>,
    token: string,
    fault: Fault | null,
  ): Promise<{ status: number; body: unknown } | "close" | "hang"> {
    if (fault?.kind === "answer") return fault;
    if (fault && !fault.done) return fault.kind === "close" ? "close" : "hang";
    const outcome = token === this.token ? await this.#do(method, params) : refusal(401, "Unauthorized");
    if (isFault(outcome)) return outcome.kind === "answer" ? outcome : "close";
    if (fault) return fault.kind === "no-receipt" ? ok({}) : fault.kind === "close" ? "close" : "hang";
    return ok(outcome);
  }

  #do(method: string, params: Record<string, unknown>): unknown {
    switch (method) {
      case "getMe":
        return { ...this.bot, can_read_all_group_messages: false };
      case "sendMessage":
        return this.#send(params);
      case "editMessageText":
        return this.#edit(params);
      case "deleteMessage":
        return this.#delete(params);
      case "sendChatAction":
        return true;
      case "getUpdates":
        return this.#getUpdates(params);
      case "getFile":
        return this.#file(String(params["file_id"]));
      case "getWebhookInfo":
        return { url: this.webhook?.url ?? "", pending_update_count: this.updates.length };
      case "setWebhook":
        this.webhook = { url: String(params["url"]), secret_token: String(params["secret_token"]) };
        return true;
      default:
        return refusal(404, "Not Found");
    }
  }

  #send(params: Record<string, unknown>): unknown {
    const chat = this.#chats.get(params["chat_id"] as number);
    const text = params["text"] as string;
    const entities = (params["entities"] ?? []) as FakePost["entities"];
    const wanted = (params["message_thread_id"] as number | undefined) ?? null;
    const bad = badText(text, entities);
    if (!chat) return refusal(400, "Bad Request: chat not found");
    if (chat.gone) return chat.gone;
    if (bad) return bad;
    const isThere = wanted === null || chat.topics.has(wanted);
    if (!isThere && !chat.ignoresTopics) return refusal(400, "Bad Request: message thread not found");
    const topic = isThere ? wanted : null;
    chat.messages += 1;
    this.#posts.push({ id: String(chat.messages), chat: chat.id, topic, text, entities, edits: 0 });
    const { id, type, title, username } = chat;
    return {
      message_id: chat.messages,
      chat: { id, type, title, username },
      text,
      ...(topic === null ? {} : { message_thread_id: topic, is_topic_message: true }),
    };
  }

  #edit(params: Record<string, unknown>): unknown {
    const post = this.#find(params);
    const text = params["text"] as string;
    const entities = (params["entities"] ?? []) as FakePost["entities"];
    const bad = badText(text, entities);
    if (!post) return refusal(400, "Bad Request: message to edit not found");
    if (bad) return bad;
    if (post.text === text && JSON.stringify(post.entities) === JSON.stringify(entities)) {
      return refusal(400, "Bad Request: message is not modified: specified new message content is the same");
    }
    Object.assign(post, { text, entities, edits: post.edits + 1 });
    return true;
  }

  #delete(params: Record<string, unknown>): unknown {
    const post = this.#find(params);
    if (!post) return refusal(400, "Bad Request: message to delete not found");
    this.#posts = this.#posts.filter((one) => one !== post);
    return true;
  }

  #find({ chat_id: chat, message_id: id }: Record<string, unknown>): FakePost | undefined {
    return this.#posts.find((post) => post.chat === chat && post.id === String(id as number));
  }

  #file(id: string): unknown {
    const bytes = this.files.get(id);
    if (!bytes) return refusal(400, "Bad Request: wrong file_id or the file is temporarily unavailable");
    if (bytes.byteLength > 20 * 1_048_576) return refusal(400, "Bad Request: file is too big");
    return { file_id: id, file_path: id, file_size: bytes.byteLength };
  }

  /** What stands before the offset is confirmed; of two who ask at once the first is turned away. */
  async #getUpdates({ offset, timeout }: Record<string, unknown>): Promise<unknown> {
    if (this.webhook) {
      return refusal(409, "Conflict: can't use getUpdates method while webhook is active");
    }
    this.#poll?.answer(refusal(409, "Conflict: terminated by other getUpdates request"));
    if (typeof offset === "number") this.updates = this.updates.filter((one) => one.update_id >= offset);
    this.#tell();
    if (this.updates.length === 0 && timeout !== 0) {
      // Waits for the next update, for another who asks, or for the end.
      let poll = { answer: (_: Fault | null): void => {} };
      const told = await new Promise<Fault | null>((resolve) => {
        poll = { answer: resolve };
        this.#poll = poll;
      });
      if (this.#poll === poll) this.#poll = null;
      if (told) return told;
    }
    return this.updates.slice(0, 100);
  }
}

/** A command at the start, and names with an @. */
function entitiesOf(text: string): { type: string; offset: number; length: number }[] {
  const command = /^\/\w+(?:@\w+)?/.exec(text)?.[0];
  const found = command === undefined ? [] : [{ type: "bot_command", offset: 0, length: command.length }];
  const names = [...text.matchAll(/(?<![\w/])@\w+/g)].map(({ index, 0: name }) => ({
    type: "mention",
    offset: index,
    length: name.length,
  }));
  return [...found, ...names.filter(({ offset }) => offset >= (command?.length ?? 0))];
}

function badText(text: string, entities: FakePost["entities"]): Fault | null {
  if (text.trim() === "") return refusal(400, "Bad Request: message text is empty");
  if (text.length > 4_096) return refusal(400, "Bad Request: message is too long");
  const isOutside = entities.some(({ offset, length }) => length < 1 || offset + length > text.length);
  return isOutside ? refusal(400, "Bad Request: ENTITY_BOUNDS_INVALID") : null;
}

function isFault(value: unknown): value is Fault {
  return typeof value === "object" && value !== null && "kind" in value;
}

function ok(result: unknown): { status: number; body: unknown } {
  return { status: 200, body: { ok: true, result } };
}

function reply(response: ServerResponse, { status, body }: { status: number; body: unknown }): void {
  if (response.destroyed) return;
  // Each call has a connection of its own: whether one was cut before or behind an answer is not left to chance.
  response
    .writeHead(status, { "content-type": "application/json", connection: "close" })
    .end(JSON.stringify(body));
}
