import { formatAddress, parseAddress, type Address } from "../../address/address.ts";
import { asWaybillError } from "../../kernel/errors.ts";
import { sha256 } from "../../kernel/digest.ts";
import type { Channel, ChannelFactory, ChannelPorts, IncomingMessage, SendOutcome } from "../channel.ts";
import type { OutgoingOp } from "../channel.ts";
import { IrcConnection, type Heard } from "./connection.ts";
import { readIrcOptions, sameCase, type IrcOptions, type IrcSettings } from "./irc-options.ts";
import { Pace } from "./pace.ts";
import { asLine, splitLines } from "./split-lines.ts";

/**
 * A channel to an IRC server: channels and private messages. docs/irc.md says what IRC cannot do.
 *
 *   irc({ host: "irc.example.org", nick: "waybill", allow: { users: "*", channels: ["#team"], dms: false } })
 *
 * @throws WaybillError `config_invalid`
 */
export function irc(options: IrcOptions): ChannelFactory {
  const settings = readIrcOptions(options);
  return { kind: "irc", account: settings.account, connect: (ports) => new IrcChannel(settings, ports) };
}

/** The pause before a message that could not be stored is given to the inbox again. */
const AGAIN_MS = 500;
/** Nothing is known of a line that was lost, so an attempt that could not even begin waits so long. */
const DOWN_MS = 500;

class IrcChannel implements Channel {
  readonly kind = "irc";
  readonly account: string;
  readonly sender: Channel["sender"];
  readonly #settings: IrcSettings;
  readonly #ports: ChannelPorts;
  readonly #connection: IrcConnection;
  readonly #pace: Pace;
  readonly #stop = new AbortController();
  /** IRC tells a message once: each is stored before the next is looked at, and tried again until it is. */
  #last: Promise<void> = Promise.resolve();
  #begun: (() => void) | null = null;

  constructor(settings: IrcSettings, ports: ChannelPorts) {
    this.account = settings.account;
    this.#settings = settings;
    this.#ports = ports;
    this.#pace = new Pace(ports.clock, settings.pace);
    this.#connection = new IrcConnection(settings, ports.clock, {
      heard: (message) => {
        this.#last = this.#last.then(() => this.#take(message));
      },
      up: (nick, vouches) => {
        ports.report({ kind: "on" });
        if (!vouches && asksForAccounts(settings)) ports.log.warn({}, noAccounts);
        if (nick !== settings.nick) ports.log.warn({ nick }, `the nick ${settings.nick} is taken`);
        this.#begun?.();
      },
      down: (reason) => {
        if (!this.#stop.signal.aborted) ports.report({ kind: "connecting", reason });
        this.#begun?.();
      },
      refused: (reason) => {
        ports.report({ kind: "off", reason: `the server refuses us: ${reason}` });
        this.#connection.close();
        this.#begun?.();
      },
    });
    this.sender = {
      channel: "irc",
      inTransaction: false,
      can: { edit: false, delete: false, preview: false },
      allows: (address) => this.#allows(address),
      split: (text) => splitLines(text),
      send: (op, signal) => this.#send(op, signal),
      reconcile: () =>
        Promise.resolve({ kind: "unknown", reason: "IRC keeps nothing that could be looked through" }),
    };
  }

  async start(): Promise<void> {
    const { host, port, nick } = this.#settings;
    const hold = await this.#ports.hold(`irc:${sha256(`${host}:${port}/${sameCase(nick)}`)}`);
    if (!hold.held) {
      this.#ports.report({ kind: "standing-by", reason: `${hold.by} has this nick` });
      void hold.freed.then(() => {
        if (!this.#stop.signal.aborted) return this.start();
      });
      return;
    }
    const release = (): void => {
      this.#connection.close();
      void hold.release();
    };
    hold.lost.addEventListener("abort", release, { once: true });
    this.#stop.signal.addEventListener("abort", release, { once: true });
    // Whatever becomes of the first try, the gateway need not wait for more.
    const begun = new Promise<void>((resolve) => (this.#begun = resolve));
    this.#connection.open();
    await begun;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#last;
  }

  authorize({ place, sender }: IncomingMessage): true | string {
    const { users, channels, dms } = this.#settings.allow;
    if (users !== "*" && !users.some((user) => sameCase(user) === sameCase(sender.id)))
      return "the sender is not in allow.users";
    if (place.kind === "dm") return dms || "private messages are switched off (allow.dms)";
    const { conversation } = parseAddress(place.address);
    return channels.includes(conversation) || "the channel is not in allow.channels";
  }

  #allows({ account, conversation, thread }: Address): true | string {
    const { channels, dms } = this.#settings.allow;
    if (account !== this.account) return `this channel has the account ${this.account}`;
    if (thread !== null) return "IRC has no threads";
    if (/[\s\0,]/u.test(conversation) || conversation.startsWith(":")) return "this is no place on IRC";
    if (isChannel(conversation))
      return channels.includes(sameCase(conversation)) || "the channel is not in allow.channels";
    return dms || "private messages are switched off (allow.dms)";
  }

  async #take(heard: Heard): Promise<void> {
    const incoming = this.#read(heard);
    if (!incoming) return;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#ports.inbox.accept(incoming);
        return;
      } catch (thrown) {
        const { code, message } = asWaybillError(thrown);
        this.#ports.log.warn({ code, sender: incoming.sender.id, name: incoming.sender.name }, message);
        if (code !== "store_unavailable" && code !== "store_full") return;
      }
      await new Promise<void>((resolve) => this.#ports.clock.after(AGAIN_MS, resolve));
    }
  }

  /** Null: not meant for us. */
  #read({ nick, target, text, account, id, bot }: Heard): IncomingMessage | null {
    const { settings, me } = { settings: this.#settings, me: this.#connection.nick };
    // Programs talk by NOTICE, which is never heard here (RFC 2812, 3.3.2); those that say so are left out too.
    if (bot || sameCase(nick) === sameCase(me)) return null;
    // No nick may have a ":" (RFC 2812, 2.3.1); one that a server lets through must not pass for an account.
    if (nick.includes(":")) return null;
    const toUs = sameCase(target) === sameCase(me);
    const said = withoutMention(text, me);
    if (!toUs && settings.listen === "mentions" && said === null) return null;
    const conversation = sameCase(toUs ? nick : target);
    const address = formatAddress({ channel: "irc", account: this.account, conversation, thread: null });
    const words = said ?? text;
    return {
      place: { address, parent: null, channel: "irc", account: this.account, kind: toUs ? "dm" : "channel" },
      id: id ?? this.#ports.ids.next("msg"),
      sender: { id: account === null ? sameCase(nick) : `account:${account}`, name: nick },
      principal: null,
      text: words,
      parts: [{ type: "text", text: words }],
    };
  }

  async #send(op: OutgoingOp, signal: AbortSignal): Promise<SendOutcome> {
    const line = asLine(op.text);
    // Nothing that could be seen: such a piece is there as soon as it is meant to be.
    if (line === "") return { kind: "sent", receipt: { platformId: op.key } };
    if (!this.#connection.isUp)
      return { kind: "retry", reason: "there is no connection to the server", afterMs: DOWN_MS };
    await this.#pace.next();
    const answer = await this.#connection.say(op.address.conversation, line, signal);
    if (answer === "lost")
      return { kind: "unclear", reason: "the connection was lost before the server answered" };
    if (answer.ok) return { kind: "sent", receipt: { platformId: op.key } };
    return { kind: "blocked", reason: answer.reason };
  }
}

function asksForAccounts({ allow }: IrcSettings): boolean {
  return allow.users !== "*" && allow.users.some((user) => user.startsWith("account:"));
}

const noAccounts =
  "irc.allow.users has services accounts, but this server does not tell who is logged in (IRCv3 account-tag), so nobody is let in by one; allow nicks, if everybody on the server can be trusted";

function isChannel(name: string): boolean {
  return /^[#&+!]/.test(name);
}

/** The text without the bot's name at its start; as it is where the name stands elsewhere in it; null without it. */
function withoutMention(text: string, nick: string): string | null {
  const name = nick.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const start = new RegExp(`^@?${name}[:,]?(?:\\s+|$)`, "iu");
  if (start.test(text)) return text.replace(start, "").trim();
  return new RegExp(`(?:^|[^\\w-])@?${name}(?:[^\\w-]|$)`, "iu").test(text) ? text : null;
}
