/** Drives the other program of the webhook channel, which is a second process (webhook-peer-process.ts). */
import { type ChildProcess, fork } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** What the other program does instead of posting and answering. */
export type PeerAnswer =
  | { kind: "status"; status: number; retryAfter?: string; location?: string; body?: unknown }
  /** No answer, and nothing posted. */
  | { kind: "hang" }
  /** The connection is cut, and nothing posted. */
  | { kind: "close" }
  /** It is posted, and nobody is told. */
  | { kind: "accept-hang" }
  | { kind: "accept-close" }
  | { kind: "accept-no-id" };

/** What a person sees there, in order; an edit changes a post in place. */
export interface PeerPost {
  id: string;
  key: string;
  conversation: string;
  thread: string | null;
  text: string;
  part: number;
  edits: number;
}

export interface PeerRequest {
  method: "POST" | "GET";
  url: string;
  headers: Record<string, string>;
  body: string;
  signed: boolean;
}

export type ToPeer = { id: number } & (
  | { kind: "once"; method: "POST" | "GET"; answers: PeerAnswer[] }
  | { kind: "always"; method: "POST" | "GET"; answer: PeerAnswer | null }
  | { kind: "gone"; conversation: string }
  | { kind: "sync" }
);

export type FromPeer =
  | { kind: "ready"; port: number; posts: PeerPost[] }
  | { kind: "request"; request: PeerRequest }
  | { kind: "posts"; posts: PeerPost[] }
  | { kind: "done"; id: number };

/** A message as the other program sends it; `sender` may be an id. */
export interface PeerMessage {
  id?: string;
  conversation: { id: string; kind?: "dm" | "group" | "channel"; title?: string };
  thread?: string;
  sender?: { id: string; name?: string; bot?: boolean };
  text?: string;
  parts?: unknown[];
  files?: unknown[];
}

export class WebhookPeer {
  readonly secret: string;
  readonly #folder: string;
  #child: ChildProcess | null = null;
  #port = 0;
  #posts: PeerPost[] = [];
  readonly #requests: PeerRequest[] = [];
  readonly #waiting = new Set<() => void>();
  #controls = 0;

  private constructor(secret: string, folder: string) {
    this.secret = secret;
    this.#folder = folder;
  }

  static async start(secret = `secret-${randomUUID()}`): Promise<WebhookPeer> {
    const peer = new WebhookPeer(secret, await mkdtemp(path.join(tmpdir(), "waybill-peer-")));
    await peer.#start();
    return peer;
  }

  async #start(): Promise<void> {
    const script = new URL("./webhook-peer-process.ts", import.meta.url);
    const args = [path.join(this.#folder, "posts.json"), this.secret, String(this.#port)];
    const child = fork(script, args, { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.#child = child;
    child.on("message", (message: FromPeer) => this.#hear(message));
    child.on("exit", () => this.#tell());
    const failed = once(child, "exit").then(() => {
      throw new Error("The other program did not start.");
    });
    await Promise.race([this.until(() => this.#isReady), failed]);
  }

  #isReady = false;
  readonly #done = new Set<number>();

  #hear(message: FromPeer): void {
    if (message.kind === "ready") {
      this.#port = message.port;
      this.#isReady = true;
    }
    if (message.kind === "ready" || message.kind === "posts") this.#posts = message.posts;
    if (message.kind === "request") this.#requests.push(message.request);
    if (message.kind === "done") this.#done.add(message.id);
    this.#tell();
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Where it takes deliveries; the same after a restart. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/waybill`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** What a person sees, in all conversations or in one place; of a conversation its top level. */
  posts(conversation?: string, thread: string | null = null): PeerPost[] {
    if (conversation === undefined) return this.#posts;
    return this.#posts.filter((post) => post.conversation === conversation && post.thread === thread);
  }

  texts(conversation?: string, thread: string | null = null): string[] {
    return this.posts(conversation, thread).map((post) => post.text);
  }

  /** Every request that came, also those that were answered badly. */
  get requests(): readonly PeerRequest[] {
    return this.#requests;
  }

  /** The ops of POST requests, in order. */
  get ops(): Record<string, unknown>[] {
    return this.#requests.flatMap(({ method, body }) =>
      method === "POST" ? [JSON.parse(body) as Record<string, unknown>] : [],
    );
  }

  /** Resolves when the condition holds; it is looked at whenever a request or a post came. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (;;) {
      const changed = new Promise<void>((resolve) => this.#waiting.add(resolve));
      if (await holds()) return;
      await changed;
    }
  }

  /** The next requests are answered so, one each; after them it posts and answers as usual. */
  once(method: "POST" | "GET", ...answers: PeerAnswer[]): Promise<void> {
    return this.#control({ kind: "once", method, answers });
  }

  /** All requests are answered so, until it is taken back with null. */
  always(method: "POST" | "GET", answer: PeerAnswer | null): Promise<void> {
    return this.#control({ kind: "always", method, answer });
  }

  /** The conversation no longer exists there: 410. */
  gone(conversation: string): Promise<void> {
    return this.#control({ kind: "gone", conversation });
  }

  /** Resolves when everything that has happened there is known here; needed only to see that nothing happened. */
  sync(): Promise<void> {
    return this.#control({ kind: "sync" });
  }

  async #control(message: { kind: string } & Record<string, unknown>): Promise<void> {
    this.#controls += 1;
    const id = this.#controls;
    this.#child?.send({ ...message, id });
    await this.until(() => this.#done.has(id));
  }

  /** A signed request that says something to the gateway at `gateway` (its base URL). */
  message(gateway: string, message: PeerMessage, options: SignOptions = {}): Request {
    const full = { id: randomUUID(), sender: { id: "u1", name: "Ann" }, text: "", ...message };
    return signedRequest(`${gateway}/channels/webhook`, this.secret, JSON.stringify(full), options);
  }

  /** As a crash would: posts stay, the connection is cut. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    this.#isReady = false;
  }

  /** At the same address, with the posts that it had. */
  async restart(): Promise<void> {
    await this.kill();
    await this.#start();
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export interface SignOptions {
  /** Seconds since 1970. Default now. */
  timestamp?: number;
  /** Instead of the right one. */
  signature?: string;
  account?: string;
}

/** A signed POST, by the recipe of docs/webhook.md and not by the code under test. */
export function signedRequest(url: string, secret: string, body: string, options: SignOptions = {}): Request {
  const timestamp = options.timestamp ?? Math.floor(Date.now() / 1_000);
  const right = createHmac("sha256", secret).update(`v1:${timestamp}:${body}`).digest("hex");
  return new Request(options.account === undefined ? url : `${url}/${options.account}`, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "x-waybill-timestamp": String(timestamp),
      "x-waybill-signature": options.signature ?? `v1=${right}`,
    },
  });
}
