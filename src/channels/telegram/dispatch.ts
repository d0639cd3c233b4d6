import { formatAddress, type Address } from "../../address/address.ts";
import { asWaybillError, httpStatusOf } from "../../kernel/errors.ts";
import type { ReservedWord } from "../../turns/reserved-words.ts";
import type { IncomingMessage } from "../channel.ts";
import { authorize, has } from "./allow.ts";
import type { Bot, Self } from "./bot.ts";
import type { Files } from "./files.ts";
import { nameOf, readUpdate, type TelegramMessage } from "./read-update.ts";
import { meaningOf, readableText, withQuoted } from "./readable-text.ts";

/** What became of an update. */
export type Dispatched =
  | { turn: string; run: string | null; address: string }
  | { changed: string }
  /** A code of error-codes.ts, or a few words. */
  | { ignored: string };

/** Pictures that were sent together: only the first has words, and with it a mention. */
const albumsKept = 1_000;

/** Takes updates in; webhook and polling both call this. */
export class Dispatcher {
  readonly #bot: Bot;
  readonly #files: Files;
  /** Albums of which a message was for us. */
  readonly #albums = new Set<string>();

  constructor(bot: Bot, files: Files) {
    this.#bot = bot;
    this.#files = files;
  }

  /**
   * Resolves when what an update led to is committed: only then may it be acknowledged.
   * @throws WaybillError for what may succeed later, with a status of 500 and more: it is not to be acknowledged, so that
   *   Telegram gives it again
   */
  async dispatch(update: unknown): Promise<Dispatched> {
    const { log } = this.#bot.ports;
    const self = await this.#bot.self();
    const reading = readUpdate(update, self);
    if (reading.kind === "ignored") {
      if (reading.unexpected) log.warn({ why: reading.why }, "an update of Telegram was not understood");
      else log.debug({ why: reading.why }, "an update of Telegram was ignored");
      return { ignored: reading.why };
    }
    const { message } = reading;
    if (reading.kind === "changed") return this.#settle(() => this.#change(message, self));
    if (!this.#isForUs(message, self)) return { ignored: "nobody named the bot" };
    return this.#settle(() => this.#accept(message, self));
  }

  /** What is refused for good is acknowledged: given again, it would be refused again. */
  async #settle(work: () => Promise<Dispatched>): Promise<Dispatched> {
    try {
      return await work();
    } catch (thrown) {
      const error = asWaybillError(thrown);
      if (httpStatusOf(error.code) >= 500) throw thrown;
      // Its message names the id to copy, or the rule that was broken.
      this.#bot.ports.log.warn({ code: error.code }, `an update of Telegram was refused: ${error.message}`);
      return { ignored: error.code };
    }
  }

  #isForUs(message: TelegramMessage, self: Self): boolean {
    const meaning = meaningOf(message, self);
    if (meaning === "elsewhere") return false;
    if (message.kind === "dm" || this.#bot.settings.listen === "all") return true;
    const album = message.album === null ? null : `${message.chat}/${message.person.id}/${message.album}`;
    if (meaning === null) return album !== null && this.#albums.has(album);
    if (album !== null) {
      this.#albums.add(album);
      if (this.#albums.size > albumsKept) this.#albums.delete([...this.#albums][0] ?? "");
    }
    return true;
  }

  async #accept(message: TelegramMessage, self: Self): Promise<Dispatched> {
    const { ports, settings } = this.#bot;
    const bare: IncomingMessage = { ...this.#which(message), principal: null, text: "", parts: [] };
    const { sender, place } = bare;
    const allowed = authorize(settings, bare);
    if (allowed !== true) {
      ports.log.warn(
        { user: sender.id, name: sender.name, chat: message.chat, title: message.title },
        `Telegram: ${sender.name ?? "somebody"} (${sender.id}) was turned away in ${message.title ?? "a private chat"} (${message.chat}): ${allowed}`,
      );
      // The inbox keeps the one record of it; nothing of what was said is looked at.
      return answerOf(await ports.inbox.accept(bare));
    }
    const { parts, leftOut } = await this.#files.take(message.raw);
    const text = this.#textOf(message, self);
    const incoming: IncomingMessage = {
      ...bare,
      place,
      text,
      parts: text === "" ? parts : [{ type: "text", text }, ...parts],
      ...(leftOut.length > 0 ? { leftOut } : {}),
    };
    return answerOf(await ports.inbox.accept(incoming));
  }

  async #change(message: TelegramMessage, self: Self): Promise<Dispatched> {
    const text = this.#textOf(message, self);
    // A place that moves, a picture that is replaced: there is nothing new to read.
    if (text === "") return { ignored: "its text is as before" };
    return { changed: await this.#bot.ports.inbox.amend({ ...this.#which(message), text }) };
  }

  #textOf(message: TelegramMessage, self: Self): string {
    const text = readableText(message, self);
    if (isWord(text)) return text;
    return withQuoted(text, message, self, (id) => has(this.#bot.settings.allow.users, id));
  }

  #which({ chat, topic, kind, title, id, person }: TelegramMessage) {
    const { account } = this.#bot.settings;
    const top: Address = { channel: "telegram", account, conversation: String(chat), thread: null };
    return {
      place: {
        address: formatAddress({ ...top, thread: topic }),
        parent: topic === null ? null : formatAddress(top),
        channel: "telegram",
        account,
        kind,
        title,
      },
      id: String(id),
      sender: { id: String(person.id), name: nameOf(person) },
    };
  }
}

function answerOf({ turn, run, address }: { turn: string; run: string | null; address: string }): Dispatched {
  return { turn, run, address };
}

const words: readonly ReservedWord[] = ["stop", "new", "status", "help"];

/** Such a text is nothing but the word: nothing is put above it. */
function isWord(text: string): boolean {
  const said = text.trim().toLowerCase().replace(/^\//, "");
  return words.some((word) => word === said);
}
