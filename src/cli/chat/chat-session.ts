import { setTimeout as wait } from "node:timers/promises";
import { webAddressText } from "../../gateway/web-address.ts";
import type { Page, PostMessage, WireAccepted, WireMessage, WireStatus } from "../../http/api.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { systemIds } from "../../kernel/ids.ts";
import { queryOf } from "../client-flags.ts";
import type { Client } from "../client.ts";
import { errorText } from "../output.ts";
import { isLive } from "../show-run.ts";
import { followRun, type Followed } from "./follow-run.ts";
import type { Screen } from "./screen.ts";

export interface ChatPlace {
  conversation: string;
  thread: string | null;
}

export interface ChatOptions {
  /** Who speaks; left out: the operator. */
  sender: string | undefined;
  agent: string | undefined;
}

/** Messages that are shown when a conversation is opened. */
const SHOWN_BEFORE = 6;
/** How long after a lost connection it is tried again. */
const AGAIN_MS = 1_000;

/** One person's talk in one place at a time: what is said, what streams back, and what is posted later. */
export class ChatSession {
  readonly #client: Client;
  readonly #screen: Screen;
  readonly #o: ChatOptions;
  readonly #left = new AbortController();
  #place: ChatPlace = { conversation: "", thread: null };
  #address = "";
  /** Ends the feed of the place before. */
  #moved = new AbortController();
  /** The place in the conversation up to which everything is shown. */
  #seen = 0;
  #looking: Promise<void> = Promise.resolve();
  readonly #mine = new Set<string>();
  /** Where something was said from here. */
  readonly #spoken = new Set<string>();
  readonly #following = new Map<string, Followed>();
  #printing: Promise<void> = Promise.resolve();
  #onHint: () => void = () => {};

  constructor(client: Client, screen: Screen, options: ChatOptions) {
    this.#client = client;
    this.#screen = screen;
    this.#o = options;
  }

  get place(): ChatPlace {
    return this.#place;
  }

  /** Runs whose answers are being shown. */
  get live(): string[] {
    return [...this.#following.keys()];
  }

  /** Goes to a place and hears what is said there from now on. Resolves when nothing can be missed any more. */
  async open(place: ChatPlace): Promise<void> {
    const address = webAddressText(place.conversation, place.thread);
    this.#moved.abort();
    this.#moved = new AbortController();
    const signal = AbortSignal.any([this.#moved.signal, this.#left.signal]);
    this.#place = place;
    this.#address = address;
    const connected = Promise.withResolvers<number>();
    void this.#listen(address, signal, connected);
    const last = await connected.promise;
    this.#seen = Math.max(0, last - SHOWN_BEFORE);
    this.#screen.event("opened", { address });
    await this.#look();
  }

  /** The feed of a place, connected again whenever it is lost. */
  async #listen(
    address: string,
    signal: AbortSignal,
    connected: { resolve(last: number): void; reject(error: unknown): void },
  ): Promise<void> {
    let lost = false;
    while (!signal.aborted) {
      try {
        const path = `/v1/conversations/events${queryOf({ address })}`;
        for await (const event of this.#client.events(path, signal)) {
          if (event.event === "open") {
            connected.resolve(Number(event.id ?? 0));
            if (lost) this.#screen.note("(connected again)");
            lost = false;
          } else if (event.event === "run" || event.event === "delivery") {
            this.#screen.event(event.event, JSON.parse(event.data) as Record<string, unknown>);
          }
          await this.#look();
          this.#onHint();
        }
      } catch (thrown) {
        if (signal.aborted) return;
        // Before the first connection somebody waits for it; later it is only tried again.
        connected.reject(thrown);
        if (!lost) this.#screen.note("(the connection is lost; trying again)");
        lost = true;
      }
      await wait(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Shows what was said here since the last look, each message once. */
  #look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#lookNow());
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    const address = this.#address;
    for (;;) {
      const query = queryOf({ address, limit: "100", next: String(this.#seen) });
      const page = await this.#client.get<Page<WireMessage>>(`/v1/messages${query}`).catch(() => null);
      if (page === null || this.#address !== address) return;
      for (const message of page.items) {
        // The final message of a run that streams here is compared with its stream when that has ended.
        const followed = message.run === null ? undefined : this.#following.get(message.run);
        const isFinal = followed && (followed.message === null || followed.message === message.id);
        if (isFinal && message.role === "assistant") return;
        this.#seen = message.postSeq;
        this.#show(message);
      }
      if (page.next === null) return;
    }
  }

  #show(message: WireMessage): void {
    const isMine =
      message.role === "user" && message.platformId !== null && this.#mine.delete(message.platformId);
    if (!isMine && !this.#shown.delete(message.id)) this.#screen.message(message);
  }

  /** Final messages that were streamed whole. */
  readonly #shown = new Set<string>();

  /** Says something here. Resolves when it is accepted; `answered`, when the answer to it was shown. */
  async say(text: string): Promise<{ answered: Promise<void> }> {
    const { conversation, thread } = this.#place;
    const id = systemIds.next("msg");
    this.#mine.add(id);
    const { sender, agent } = this.#o;
    const body: PostMessage = {
      conversation,
      text,
      id,
      ...(thread === null ? {} : { thread }),
      ...(sender === undefined ? {} : { sender: { id: sender } }),
      ...(agent === undefined ? {} : { agent }),
    };
    const accepted = await this.#client.post<WireAccepted>("/v1/messages", body);
    this.#screen.event("accepted", { ...accepted });
    this.#spoken.add(accepted.address);
    if (accepted.run === null || accepted.stream === null) return { answered: this.#look() };
    const followed: Followed = { run: accepted.run, message: null, text: "" };
    this.#following.set(followed.run, followed);
    const { stream } = accepted;
    // One answer at a time is written; a lane answers in this order anyway.
    this.#printing = this.#printing.then(() => this.#follow(followed, stream));
    return { answered: this.#printing };
  }

  async #follow(followed: Followed, stream: string): Promise<void> {
    this.#screen.status("running");
    try {
      const begun = (): void => void this.#look();
      await followRun(this.#client, this.#screen, followed, stream, this.#left.signal, begun);
    } catch (thrown) {
      if (this.#left.signal.aborted) return;
      // The answer is not lost with the connection: it comes as a message.
      followed.text = "";
      if (thrown instanceof WaybillError) this.#screen.note(errorText(thrown, false).trimEnd());
    }
    this.#following.delete(followed.run);
    if (followed.text !== "" && followed.message !== null) this.#shown.add(followed.message);
    if (followed.text !== "") this.#screen.answered(followed.run);
    this.#screen.status(this.#following.size > 0 ? "running" : null);
    await this.#look();
  }

  /** Asks the runs whose answers are awaited here to end. */
  async stop(): Promise<void> {
    for (const run of this.live) {
      await this.#client.post(`/v1/runs/${encodeURIComponent(run)}/cancel`).catch(() => {});
    }
  }

  /** Resolves when nothing runs any more where something was said, and what was posted here was shown. */
  async settled(): Promise<void> {
    for (const address of this.#spoken) await this.#quiet(address);
    await this.#look();
  }

  async #quiet(address: string): Promise<void> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onHint = resolve;
      const status = await this.#client.get<WireStatus>(`/v1/status${queryOf({ address })}`);
      if (!status.runs.some((run) => isLive(run.state))) return;
      // Hints come for the place that is open; for others it is looked again after a while.
      await Promise.race([promise, wait(AGAIN_MS, undefined, { signal: this.#left.signal })]);
    }
  }

  leave(): void {
    this.#left.abort();
  }
}
