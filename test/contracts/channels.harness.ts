/** What the contract of channels needs of each: a gateway with the channel, somebody who speaks there, and eyes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { RunContext } from "../../src/agents/agent.ts";
import { agent } from "../../src/agents/agent-factory.ts";
import { parseAddress } from "../../src/address/address.ts";
import type { ChannelFactory } from "../../src/channels/channel.ts";
import { webhook } from "../../src/channels/webhook/index.ts";
import { RunningGateway } from "../../src/gateway/create-gateway.ts";
import type { Store } from "./channel.contract.ts";
import { type PeerAnswer, WebhookPeer } from "../support/webhook-peer.ts";

export interface Saying {
  conversation: string;
  thread?: string;
  kind?: "dm" | "channel";
  text?: string;
  /** The platform's id of the message. Default: a new one. */
  id?: string;
  sender?: string;
  files?: { url: string; mediaType: string; filename: string }[];
}

export interface Acknowledged {
  status: number;
  body: { turn: string; run: string | null; address: string; code?: string };
}

export interface Post {
  id: string;
  text: string;
}

export interface WireDelivery {
  id: string;
  address: string;
  state: string;
  reason: string | null;
  rule: string;
  receipts: { platformId: string }[];
}

/** What a channel may lack. Whoever lacks something says why, and proves that it does. */
export type Capability = "allow" | "edit" | "files" | "pieces" | "platform" | "reconcile";

export interface Lack {
  reason: string;
  proof(gateway: RunningGateway): Promise<void> | void;
}

export interface ChannelHarness {
  readonly gateway: RunningGateway;
  readonly gates: Gates;
  readonly lacks: Partial<Record<Capability, Lack>>;
  /** The other side, where it can be told to misbehave. */
  readonly peer: PlatformPeer | null;
  /** What stands in the record of a sender who is not on the list. */
  readonly denial: string;
  /** What the platform itself calls a conversation or person of a test; the same name where this is left out. */
  idOf?(name: string): string;
  address(conversation: string, thread?: string): string;
  say(saying: Saying): Promise<Acknowledged>;
  /** What people see at a place, without what they said themselves. */
  posts(address: string): Promise<Post[]>;
  /** Resolves when a place has at least so many posts. */
  untilPosts(address: string, count: number): Promise<Post[]>;
  /** Our own post as the platform reports it to us, where it does. */
  echo(address: string, post: Post): Promise<void>;
  close(): Promise<void>;
}

/** The other side of a channel, which can be told to misbehave. What it says comes back as words of a delivery's reason. */
export interface PlatformPeer {
  /** True: it tells a repetition by its key, so what a person sends again by hand is there once all the same. */
  readonly dedupes: boolean;
  /** The next sends are answered so, one each; after them it posts and answers as usual. */
  once(...answers: PeerAnswer[]): Promise<void>;
  /** True: what was posted cannot be asked for. */
  mute(isMute: boolean): Promise<void>;
  /** The next send is refused for good. */
  refuse(): Promise<string[]>;
  /** The conversation no longer takes posts. */
  gone(conversation: string): Promise<string[]>;
  /** Nothing gets through; what was posted stays. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Resolves when everything that has happened there is known here. */
  sync(): Promise<void>;
  /** All posts that people see, everywhere. */
  count(): number;
  /** What was sent to a conversation, each attempt: its key, and whether it proved who sent it. */
  attempts(conversation: string): { key: string | undefined; signed: boolean }[];
  /** Attempts of a delivery. */
  sends(delivery: string): number;
}

function webhookPlatform(peer: WebhookPeer): PlatformPeer {
  return {
    dedupes: true,
    once: (...answers) => peer.once("POST", ...answers),
    mute: (isMute) => peer.always("GET", isMute ? { kind: "status", status: 405 } : null),
    async refuse() {
      await peer.once("POST", { kind: "status", status: 422, body: { detail: "not like this" } });
      return ["not like this"];
    },
    async gone(conversation) {
      await peer.gone(conversation);
      return ["410", "the conversation was deleted"];
    },
    kill: () => peer.kill(),
    restart: () => peer.restart(),
    sync: () => peer.sync(),
    count: () => peer.posts().length,
    attempts: (conversation) =>
      peer.requests
        .filter(({ body }) => body.includes(`"${conversation}"`))
        .map(({ headers, signed }) => ({ key: headers["idempotency-key"], signed })),
    sends: (delivery) => peer.ops.filter((op) => op["delivery"] === delivery).length,
  };
}

/** Agents wait here until the test lets them go on. */
export class Gates {
  readonly #gates = new Map<
    string,
    { started: () => void; isStarted: Promise<void>; open: () => void; isOpen: Promise<void> }
  >();

  #gate(key: string) {
    let gate = this.#gates.get(key);
    if (!gate) {
      let [started, open] = [(): void => {}, (): void => {}];
      const isStarted = new Promise<void>((resolve) => (started = resolve));
      const isOpen = new Promise<void>((resolve) => (open = resolve));
      gate = { started, isStarted, open, isOpen };
      this.#gates.set(key, gate);
    }
    return gate;
  }

  pass(key: string): Promise<void> {
    this.#gate(key).started();
    return this.#gate(key).isOpen;
  }

  started(key: string): Promise<void> {
    return this.#gate(key).isStarted;
  }

  open(key: string): void {
    this.#gate(key).open();
  }
}

/** What `long` answers: longer than one post of the webhook harness. */
export const longAnswer = Array.from({ length: 40 }, (_, n) => `line ${n} of a long answer`).join("\n");
export const maxText = 200;

/** One agent for all tests; the first word says what it does. */
function contractAgent(gates: Gates) {
  return agent.fn(async function* (ctx: RunContext) {
    const [word = "", key = ""] = ctx.text.split(" ");
    if (word === "wait") {
      await Promise.race([
        gates.pass(key),
        new Promise((resolve) => ctx.signal.addEventListener("abort", resolve)),
      ]);
    }
    if (word === "fail") {
      await gates.pass(key);
      throw new Error("on purpose");
    }
    if (word === "long") yield longAnswer;
    else if (word === "files") yield JSON.stringify(ctx.message.parts.filter((part) => part.type === "file"));
    else if (word === "say") {
      await ctx.say("first this");
      yield "then that";
    } else if (word !== "silent") yield `You said: ${ctx.text}`;
  });
}

export async function startGateway(store: Store, channels: ChannelFactory[], gates: Gates) {
  const fresh = await store.fresh();
  const dataDir = await mkdtemp(path.join(tmpdir(), "waybill-channel-"));
  const gateway = new RunningGateway(
    { agents: { contract: contractAgent(gates) }, channels },
    {
      dataDir,
      databaseUrl: fresh.databaseUrl,
      retry: { attempts: 6, firstMs: 5, mostMs: 20, timeoutMs: 10_000 },
    },
  );
  await gateway.start();
  const close = async (): Promise<void> => {
    await gateway.stop(0);
    await fresh.dispose();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { gateway, close };
}

const base = "http://127.0.0.1:8787";
let ids = 0;
export const nextId = (): string => `m${(ids += 1)}`;

export async function readJson<T>(gateway: RunningGateway, where: string): Promise<T> {
  const answer = await gateway.fetch(new Request(`${base}${where}`));
  if (!answer.ok) throw new Error(`${where} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Resolves when the condition holds; it is looked at whenever something changed in the gateway. */
export async function untilChanged(gateway: RunningGateway, holds: () => Promise<boolean>): Promise<void> {
  for (;;) {
    let leave = (): void => {};
    const changed = new Promise<void>(
      (resolve) => (leave = gateway.parts.feed.subscribe(null, () => resolve())),
    );
    try {
      if (await holds()) return;
      await changed;
    } finally {
      leave();
    }
  }
}

export async function webHarness(store: Store): Promise<ChannelHarness> {
  const gates = new Gates();
  const { gateway, close } = await startGateway(store, [], gates);
  const noOps = async (): Promise<void> => {
    const ops = await gateway.parts.db.query((k) => k.selectFrom("ops").select("id"));
    if (ops.length > 0) throw new Error("The web channel has ops after all.");
  };
  const sender = gateway.parts.services.senders.get("web");
  const posts = async (address: string): Promise<Post[]> => {
    const query = new URLSearchParams({ address, limit: "1000" });
    const { items } = await readJson<{ items: (Post & { role: string })[] }>(
      gateway,
      `/v1/messages?${query}`,
    );
    return items.filter(({ role }) => role === "assistant").map(({ id, text }) => ({ id, text }));
  };
  return {
    gateway,
    gates,
    peer: null,
    denial: "",
    lacks: {
      allow: { reason: "who may speak is decided at the door of the HTTP server", proof: () => {} },
      edit: {
        reason: "text streams to the reader, and the post is made when it is whole",
        proof() {
          if (sender?.can.edit || sender?.can.preview) throw new Error("The web channel can edit after all.");
        },
      },
      pieces: { reason: "a web post has no limit of its own", proof: noOps },
      platform: { reason: "a post is a row of our own store, so nothing can fail on its way", proof: noOps },
    },
    address: (conversation, thread) => formatOf("web", conversation, thread),
    async say({ conversation, thread, kind, text, id = nextId(), sender: who = "u1", files }) {
      const parts = files?.map((file) => ({ type: "file", ...file }));
      const said = parts && text !== undefined ? [{ type: "text", text }, ...parts] : parts;
      const body = {
        conversation,
        thread,
        kind,
        id,
        sender: { id: who },
        ...(said ? { parts: said } : { text }),
      };
      const request = new Request(`${base}/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = await gateway.fetch(request);
      return { status: answer.status, body: (await answer.json()) as Acknowledged["body"] };
    },
    posts,
    async untilPosts(address, count) {
      await untilChanged(gateway, async () => (await posts(address)).length >= count);
      return posts(address);
    },
    echo: () => Promise.resolve(),
    close,
  };
}

export async function webhookHarness(
  store: Store,
  options: { preview?: boolean } = {},
): Promise<ChannelHarness> {
  const gates = new Gates();
  const peer = await WebhookPeer.start();
  const channel = webhook({
    url: peer.url,
    secret: peer.secret,
    allow: { senders: ["u1", "u2"], conversations: "*" },
    self: "us",
    preview: options.preview,
    maxText,
    timeoutMs: 400,
  });
  const { gateway, close } = await startGateway(store, [channel], gates);
  const send = async (message: Parameters<WebhookPeer["message"]>[1]): Promise<Acknowledged> => {
    const answer = await gateway.fetch(peer.message(base, message));
    return { status: answer.status, body: (await answer.json()) as Acknowledged["body"] };
  };
  const seen = (address: string): Post[] => {
    const { conversation, thread } = parseAddress(address);
    return peer.posts(conversation, thread).map(({ id, text }) => ({ id, text }));
  };
  return {
    gateway,
    gates,
    peer: webhookPlatform(peer),
    denial: "the sender is not in allow.senders",
    lacks: {},
    address: (conversation, thread) => formatOf("webhook", conversation, thread),
    say({ conversation, kind = "dm", thread, text, id = nextId(), sender = "u1", files }) {
      const more = { ...(thread === undefined ? {} : { thread }), ...(files ? { files } : {}) };
      return send({
        id,
        conversation: { id: conversation, kind },
        sender: { id: sender },
        text: text ?? "",
        ...more,
      });
    },
    async posts(address) {
      await peer.sync();
      return seen(address);
    },
    async untilPosts(address, count) {
      await peer.until(() => seen(address).length >= count);
      return seen(address);
    },
    async echo(address, post) {
      const { conversation, thread } = parseAddress(address);
      const more = { conversation: { id: conversation }, ...(thread === null ? {} : { thread }) };
      await send({ id: post.id, text: post.text, sender: { id: "us" }, ...more });
      await send({ id: `${post.id}-bot`, text: post.text, sender: { id: "u1", bot: true }, ...more });
    },
    async close() {
      await close();
      await peer.stop();
    },
  };
}

export function formatOf(
  channel: string,
  conversation: string,
  thread: string | undefined,
  account = "main",
): string {
  const encode = (id: string): string => id.replace(/[%/ ]/g, (c) => encodeURIComponent(c));
  return `${channel}:${account}/${encode(conversation)}${thread === undefined ? "" : `/${encode(thread)}`}`;
}
