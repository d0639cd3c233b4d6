/** A workspace for tests: people, the bot, conversations with any ids, and the two ways between it and a gateway. */
import { createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebClient } from "@slack/web-api";
import { type EmulatedMessage, startEmulator, type SlackTables } from "./emulator.ts";
import { Faults } from "./faults.ts";

export type Deliver = (request: Request) => Promise<Response>;

export interface TownPost {
  id: string;
  text: string;
  op: string;
}

/** What came of an event at the gateway. */
export interface Delivered {
  status: number;
  body: Record<string, unknown>;
}

interface Event {
  body: string;
  answer: Promise<Delivered>;
}

export class SlackTown {
  readonly team: string;
  readonly secret: string;
  readonly bot = { user: "UBOT", token: `xoxb-${randomUUID()}` };
  readonly faults = new Faults();
  /** Where events are handed in; set before anybody speaks. */
  deliver: Deliver = () => Promise.reject(new Error("No gateway is there yet."));
  /** True: events have the field `channel_type`, as Slack's do and the emulator's do not. */
  channelTypes = false;
  readonly #server: Server;
  #emulator: Awaited<ReturnType<typeof startEmulator>> | null = null;
  readonly #clients = new Map<string, WebClient>();
  /** The first event of each message, by conversation and ts. */
  readonly #events = new Map<string, Event>();
  readonly #waiting = new Set<() => void>();
  /** Events that were handed in and are not answered yet. */
  #open = new Set<Promise<unknown>>();

  private constructor(team: string, secret: string) {
    this.team = team;
    this.secret = secret;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(options: { team?: string; secret?: string } = {}): Promise<SlackTown> {
    const town = new SlackTown(options.team ?? "T000000001", options.secret ?? `secret-${randomUUID()}`);
    await new Promise<void>((resolve) => town.#server.listen(0, "127.0.0.1", resolve));
    town.#emulator = await startEmulator({
      baseUrl: town.#url,
      eventsUrl: `${town.#url}/events`,
      signingSecret: town.secret,
      team: town.team,
    });
    town.addUser(town.bot.user, town.bot.token, { is_bot: true, name: "waybill" });
    return town;
  }

  get #url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** For the setting `apiUrl`: the way on which faults happen. */
  get apiUrl(): string {
    return `${this.#url}/faulty/api/`;
  }

  get tables(): SlackTables {
    if (!this.#emulator) throw new Error("The emulator has not been started.");
    return this.#emulator.tables;
  }

  /** A person with any id, who has a token of their own. */
  addUser(id: string, token = `xoxp-${id}-${randomUUID()}`, more: Record<string, unknown> = {}): void {
    const name = typeof more["name"] === "string" ? more["name"] : `name-${id}`;
    const profile = { display_name: name, real_name: name, email: "" };
    this.tables.users.insert({
      user_id: id,
      team_id: this.team,
      name,
      real_name: name,
      profile,
      deleted: false,
      is_bot: false,
      ...more,
    });
    const scopes = scopesForAll;
    this.tables.tokens.insert({ token, token_type: "test", team_id: this.team, user_id: id, scopes });
    this.#clients.set(
      id,
      new WebClient(token, { slackApiUrl: `${this.#url}/api/`, retryConfig: { retries: 0 } }),
    );
  }

  /** The official client of a person. */
  as(id: string): WebClient {
    const client = this.#clients.get(id);
    if (!client) throw new Error(`Nobody here has the id ${id}; call addUser first.`);
    return client;
  }

  /** A conversation with any id, unless it is there; everybody is in it. */
  addConversation(id: string, kind: "dm" | "group" | "channel" | "private" = "channel"): void {
    if (this.tables.channels.findOneBy("channel_id", id)) return;
    const members = this.tables.users.all().map((user) => user.user_id);
    this.tables.channels.insert({
      channel_id: id,
      team_id: this.team,
      name: `name-${id}`,
      is_channel: kind === "channel",
      is_private: kind !== "channel",
      is_im: kind === "dm",
      is_mpim: kind === "group",
      is_archived: false,
      topic: { value: "", creator: "", last_set: 0 },
      purpose: { value: "", creator: "", last_set: 0 },
      members,
      creator: members[0],
      num_members: members.length,
      last_read: {},
    });
  }

  /** The first message of a thread with any ts, unless it is there; it was said before the gateway listened. */
  addThread(conversation: string, ts: string): void {
    const isThere = this.tables.messages
      .all()
      .some((one) => one.channel_id === conversation && one.ts === ts);
    if (isThere) return;
    this.tables.messages.insert({
      ts,
      channel_id: conversation,
      user: "U0",
      text: "before",
      type: "message",
      reply_count: 0,
      reply_users: [],
      reactions: [],
    });
  }

  /** What a person says, and what the gateway answered to its event. */
  async say(
    user: string,
    conversation: string,
    text: string,
    more: { thread_ts?: string } = {},
  ): Promise<{ ts: string; answer: Delivered }> {
    const { ts } = await this.as(user).chat.postMessage({ channel: conversation, text, ...more });
    if (!ts) throw new Error("The emulator gave no ts.");
    return { ts, answer: await this.answerTo(conversation, ts) };
  }

  /** What the gateway answered to the event of a message. */
  async answerTo(conversation: string, ts: string): Promise<Delivered> {
    const event = this.#events.get(keyOf(conversation, ts));
    if (!event) throw new Error(`No event was sent for ${conversation} ${ts}.`);
    return event.answer;
  }

  /** The same event once more, as Slack repeats what was not acknowledged; `change` alters it first. */
  redeliver(
    conversation: string,
    ts: string,
    change: (event: Record<string, unknown>) => Record<string, unknown> = (event) => event,
  ): Promise<Delivered> {
    const event = this.#events.get(keyOf(conversation, ts));
    if (!event) throw new Error(`No event was sent for ${conversation} ${ts}.`);
    const envelope = JSON.parse(event.body) as { event: Record<string, unknown> };
    return this.send(
      { ...envelope, event: change(envelope.event) },
      { "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout" },
    );
  }

  /** The mention twin of a message: the same ts, another type, another event id. */
  twin(conversation: string, ts: string): Promise<Delivered> {
    return this.redeliver(conversation, ts, (event) => ({ ...event, type: "app_mention" }));
  }

  /** Any envelope, signed. Headers may replace the right ones. */
  async send(envelope: unknown, headers: Record<string, string> = {}): Promise<Delivered> {
    return handIn(
      this.deliver,
      this.signed(typeof envelope === "string" ? envelope : JSON.stringify(envelope), headers),
    );
  }

  /** By the recipe of Slack's documentation, and not by the code under test. */
  signed(body: string, headers: Record<string, string> = {}): Request {
    const timestamp = headers["x-slack-request-timestamp"] ?? String(Math.floor(Date.now() / 1_000));
    const signature = `v0=${createHmac("sha256", this.secret).update(`v0:${timestamp}:${body}`).digest("hex")}`;
    return new Request("http://127.0.0.1/channels/slack/events", {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": signature,
        ...headers,
      },
    });
  }

  /** An event of a message that the emulator did not see, as the platform would write it. */
  envelope(event: Record<string, unknown>, team = this.team): Record<string, unknown> {
    return { type: "event_callback", team_id: team, event_id: `Ev${randomUUID()}`, event };
  }

  /** What people see of the bot at a place, in the order in which it was said. */
  posts(conversation?: string, thread: string | null = null): TownPost[] {
    return this.tables.messages
      .all()
      .filter((one) => one.user === this.bot.user)
      .filter((one) => conversation === undefined || isAt(one, conversation, thread))
      .map((one) => ({ id: one.ts, text: plain(one.text), op: String(one.metadata?.event_payload["op"]) }));
  }

  /** A message is gone, as if somebody had deleted it; the gateway is not told. */
  vanish(conversation: string, ts: string): void {
    for (const one of this.tables.messages.all()) {
      if (one.channel_id === conversation && one.ts === ts) this.tables.messages.delete(one.id);
    }
  }

  /** The bot is put out of a private conversation, so that the emulator refuses its posts there. */
  removeBot(conversation: string): void {
    const row = this.tables.channels.findOneBy("channel_id", conversation);
    if (!row) throw new Error(`There is no conversation ${conversation}.`);
    this.tables.channels.update(row.id, { members: row.members.filter((one) => one !== this.bot.user) });
  }

  /** Resolves when the condition holds; it is looked at whenever a call or an event has gone through. */
  async until(what: string, holds: () => boolean): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#tell();
    }, 20_000);
    try {
      for (;;) {
        const changed = new Promise<void>((resolve) => this.#waiting.add(resolve));
        if (holds()) return;
        if (late) throw new Error(`It did not happen within 20 s: ${what}`);
        await changed;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const where = request.url ?? "/";
    try {
      if (where === "/events") await this.#relay(body, request.headers, response);
      else if (where.startsWith("/faulty/"))
        await this.#call(where.slice("/faulty".length), body, request, response);
      else await this.#answer(await this.#emulate(where, body, request), response);
    } catch (thrown) {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(thrown));
    } finally {
      this.#tell();
    }
  }

  #emulate(where: string, body: string, { headers, method = "GET" }: IncomingMessage): Promise<Response> {
    const { authorization = "", "content-type": type = "" } = headers;
    const init = {
      method,
      headers: { authorization, "content-type": type },
      ...(method === "GET" ? {} : { body }),
    };
    if (!this.#emulator) throw new Error("The emulator has not been started.");
    return this.#emulator.fetch(new Request(`${this.#url}${where}`, init));
  }

  /** A call of the gateway: it may meet a fault before or after the emulator has done it. */
  async #call(
    where: string,
    body: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const method = where.replace(/^\/api\//, "");
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    const fault = this.faults.take(method, new URLSearchParams(body), token);
    this.#tell();
    if (fault === null) return this.#answer(await this.#emulate(where, body, request), response);
    if (fault.kind === "answer") {
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
      response.end(typeof fault.body === "string" ? fault.body : JSON.stringify(fault.body ?? {}));
      return;
    }
    if (fault.done) await this.#emulate(where, body, request);
    if (fault.kind === "close") request.socket.destroy();
    if (fault.kind === "no-receipt") {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ok: true }));
    }
  }

  async #answer(answer: Response, response: ServerResponse): Promise<void> {
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  }

  async #relay(body: string, headers: IncomingMessage["headers"], response: ServerResponse): Promise<void> {
    const answer = handIn(
      this.deliver,
      this.channelTypes ? this.signed(this.#typed(body)) : asSent(body, headers),
    );
    const { event } = JSON.parse(body) as {
      event: { type: string; subtype?: string; channel: string; ts: string };
    };
    if (event.type === "message" && (event.subtype ?? "file_share") === "file_share") {
      this.#events.set(keyOf(event.channel, event.ts), { body, answer });
    }
    this.#open.add(answer);
    // The emulator waits for this before it answers whoever posted, as a real platform would not.
    response.writeHead(200).end();
    await answer.finally(() => this.#open.delete(answer)).catch(() => {});
  }

  #typed(body: string): string {
    const envelope = JSON.parse(body) as { event: { channel?: unknown } };
    const { channel } = envelope.event;
    const row =
      typeof channel === "string" ? this.tables.channels.findOneBy("channel_id", channel) : undefined;
    if (!row) return body;
    const type = row.is_im ? "im" : row.is_mpim ? "mpim" : row.is_private ? "group" : "channel";
    return JSON.stringify({ ...envelope, event: { ...envelope.event, channel_type: type } });
  }

  /** Resolves when no event is under way. */
  async quiet(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  async stop(): Promise<void> {
    await this.quiet();
    await this.#emulator?.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function handIn(deliver: Deliver, request: Request): Promise<Delivered> {
  const answer = await deliver(request);
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/** With the emulator's own signature. */
function asSent(body: string, headers: IncomingMessage["headers"]): Request {
  const given = Object.entries(headers).filter(([name]) => /^(x-slack-|content-type)/.test(name));
  return new Request("http://127.0.0.1/channels/slack/events", {
    method: "POST",
    body,
    headers: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
  });
}

async function readAll(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

function keyOf(conversation: string, ts: string): string {
  return JSON.stringify([conversation, ts]);
}

function isAt(one: EmulatedMessage, conversation: string, thread: string | null): boolean {
  const at = one.thread_ts === undefined || one.thread_ts === one.ts ? null : one.thread_ts;
  return one.channel_id === conversation && at === thread;
}

function plain(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

const scopesForAll =
  "chat:write channels:read channels:history groups:read groups:history im:read im:history im:write mpim:read mpim:history mpim:write users:read files:read files:write reactions:read reactions:write".split(
    " ",
  );
