import * as irc from "irc-framework";
import type { Clock } from "../../kernel/clock.ts";
import type { IrcSettings } from "./irc-options.ts";

export interface Heard {
  nick: string;
  target: string;
  text: string;
  /** The services account that the server vouches for, where it tells. */
  account: string | null;
  /** The server's id of the message, where it gives one. */
  id: string | null;
  bot: boolean;
}

export interface ConnectionEvents {
  heard(message: Heard): void;
  /**
   * Registered with the server; the nick may be another than was wished. `vouches`: the server tells the services account
   * of whoever speaks.
   */
  up(nick: string, vouches: boolean): void;
  down(reason: string): void;
  /** The server refuses us for good: a wrong password, a ban. */
  refused(reason: string): void;
}

/** What a server answered to a line: that it took it, or why not. */
export type LineAnswer = { ok: true } | { ok: false; reason: string; gone: boolean } | "lost";

/** Numerics that say that a line did not reach its target (RFC 2812, 5.2); the place is gone or closed to us. */
const refusals = new Set(["401", "403", "404", "405", "411", "442", "477", "489", "531", "716"]);
/** Nobody else with our name will be let in by trying again: password, ban, and what services answer to a login. */
const final = new Set(["464", "465", "904", "905", "908"]);
/** How long a line may be without an answer. */
const ANSWER_MS = 20_000;

/** The pauses between connections: doubled each time. */
const AGAIN_FIRST_MS = 250;
const AGAIN_MOST_MS = 60_000;

interface Waiting {
  target: string;
  refusal: { reason: string } | null;
  settle(answer: LineAnswer): void;
}

/** One connection to a server. A PING behind each line tells, by its answer, that the server has taken the line. */
export class IrcConnection {
  readonly #settings: IrcSettings;
  readonly #events: ConnectionEvents;
  readonly #clock: Clock;
  readonly #client = new irc.Client();
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;
  #isUp = false;
  #nicks = 0;
  /** Connections in a row that came to nothing. */
  #failed = 0;
  #again: (() => void) | null = null;
  #closed = false;

  constructor(settings: IrcSettings, clock: Clock, events: ConnectionEvents) {
    this.#settings = settings;
    this.#clock = clock;
    this.#events = events;
    this.#client.requestCap(["message-tags", "account-tag", "server-time"]);
    this.#client.use((_client, raw) =>
      raw.use((command, message, _line, _from, next) => {
        this.#raw(message.command || command, message.params);
        next();
      }),
    );
    this.#client.on("privmsg", (event) => {
      if (event.from_server) return;
      const { nick, target, message, tags } = event;
      const [account, id] = [event.account ?? tags["account"] ?? null, tags["msgid"] ?? null];
      events.heard({ nick, target, text: message, account, id, bot: "bot" in tags || "draft/bot" in tags });
    });
    this.#client.on("registered", () => {
      this.#isUp = true;
      this.#failed = 0;
      for (const channel of settings.allow.channels) this.#client.join(channel);
      events.up(this.#client.user.nick, this.#client.network.cap.enabled.includes("account-tag"));
    });
    this.#client.on("socket error", (error) => this.#down(error.message));
    this.#client.on("socket close", () => this.#down("the connection was closed"));
    this.#client.on("close", () => this.#down("the connection was closed"));
  }

  open(): void {
    const { host, port, tls, nick, password, sasl } = this.#settings;
    this.#client.connect({
      host,
      port,
      tls,
      nick,
      username: "waybill",
      gecos: "Waybill",
      version: null,
      auto_reconnect: false, // we do that, by our own clock
      ...(password === undefined ? {} : { password }),
      ...(sasl === undefined ? {} : { account: sasl }),
    });
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The nick that we have, which is not always the one that we wished for. */
  get nick(): string {
    return this.#client.user.nick;
  }

  /** Sends a line and resolves with the server's answer. */
  say(target: string, text: string, signal: AbortSignal): Promise<LineAnswer> {
    return new Promise((resolve) => {
      this.#count += 1;
      const token = `waybill-${this.#count}`;
      let cancel = (): void => {};
      const settle = (answer: LineAnswer): void => {
        cancel();
        this.#waiting.delete(token);
        resolve(answer);
      };
      cancel = this.#clock.after(ANSWER_MS, () => settle("lost"));
      signal.addEventListener("abort", () => settle("lost"), { once: true });
      this.#waiting.set(token, { target: target.toLowerCase(), refusal: null, settle });
      this.#client.raw(`PRIVMSG ${target} :${text}`);
      this.#client.raw(`PING :${token}`);
    });
  }

  #raw(command: string, params: readonly string[]): void {
    if (command === "PONG") return this.#pong(params.at(-1) ?? "");
    if (command === "433" && !this.#isUp) return this.#otherNick();
    if (final.has(command)) return this.#events.refused(`${command} ${params.slice(1).join(" ")}`);
    if (!refusals.has(command)) return;
    const target = (params[1] ?? "").toLowerCase();
    // Lines are answered in order: the oldest to this target that has none yet is meant.
    const meant = [...this.#waiting.values()].find((one) => one.target === target && one.refusal === null);
    if (meant) meant.refusal = { reason: `${params.at(-1) ?? "refused"} (${command})` };
  }

  #pong(token: string): void {
    const waiting = this.#waiting.get(token);
    if (!waiting) return;
    const { refusal } = waiting;
    waiting.settle(refusal ? { ok: false, reason: refusal.reason, gone: true } : { ok: true });
  }

  /** Somebody has our nick: with an underscore, and then two. */
  #otherNick(): void {
    this.#nicks += 1;
    if (this.#nicks > 3)
      return this.#events.refused(`the nick ${this.#settings.nick} and three like it are taken`);
    this.#client.changeNick(this.#settings.nick + "_".repeat(this.#nicks));
  }

  #down(reason: string): void {
    this.#isUp = false;
    this.#nicks = 0;
    for (const waiting of this.#waiting.values()) waiting.settle("lost");
    // One connection may end in several ways at once.
    if (this.#closed || this.#again) return;
    this.#failed += 1;
    const wait = Math.min(AGAIN_MOST_MS, AGAIN_FIRST_MS * 2 ** (this.#failed - 1));
    this.#again = this.#clock.after(wait, () => {
      this.#again = null;
      this.open();
    });
    this.#events.down(reason);
  }

  close(): void {
    this.#closed = true;
    this.#again?.();
    this.#client.quit("Waybill stops");
  }
}
