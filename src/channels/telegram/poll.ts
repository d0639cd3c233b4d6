import { sha256 } from "../../kernel/digest.ts";
import { asWaybillError, httpStatusOf } from "../../kernel/errors.ts";
import { pause } from "../../kernel/pause.ts";
import type { ChannelState, Hold } from "../channel.ts";
import { badToken, type Bot } from "./bot.ts";
import type { Dispatcher } from "./dispatch.ts";
import { updateIdOf, wantedUpdates } from "./read-update.ts";
import { failureOf, isDeadToken, telegramApi, type TelegramApi } from "./telegram-api.ts";

/** How long Telegram waits for something to tell before it answers with nothing. */
const waitSeconds = 30;
/** An answer with nothing that came sooner did not wait: a server that does not hold requests is not asked at once again. */
const soonMs = 250;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** Chats whose updates are taken in at once; those of one chat go in order. */
const chatsAtOnce = 8;
/** An update over which we fail again and again, though the store is there, must not keep all others out. */
const mostFailures = 5;

type Held = Extract<Hold, { held: true }>;

/**
 * Long polling. Of all processes one polls a token. An update is confirmed, by the offset of the next question, only
 * after what it led to is committed; after a crash Telegram gives it again, and the inbox knows it.
 */
export class Poller {
  readonly #bot: Bot;
  readonly #api: TelegramApi;
  readonly #dispatcher: Dispatcher;
  readonly #stop = new AbortController();
  #life: Promise<void> = Promise.resolve();
  #state: ChannelState["kind"] | null = null;

  constructor(bot: Bot, dispatcher: Dispatcher) {
    this.#bot = bot;
    this.#api = telegramApi(bot.settings, bot.ports.clock, waitSeconds * 1_000);
    this.#dispatcher = dispatcher;
  }

  /**
   * Resolves when Telegram has answered for the first time, or when another process polls.
   * @throws WaybillError `config_invalid` for a token that is refused
   */
  async start(): Promise<void> {
    const { ports, settings } = this.#bot;
    const hold = await ports.hold(`telegram:${sha256(`${settings.botToken} ${settings.apiRoot}`)}`);
    if (this.#stop.signal.aborted) return hold.held ? hold.release() : undefined;
    if (!hold.held) {
      this.#report({ kind: "standing-by", reason: `${hold.by} polls with telegram.botToken` });
      void hold.freed.then(() => this.#again());
      return;
    }
    let begun = (): void => {};
    const answered = new Promise<void>((resolve) => (begun = resolve));
    const life = this.#keep(hold, begun);
    this.#life = life.catch(() => {});
    await Promise.race([answered, life]);
  }

  /** Asks no more, and gives the token free after what has come in is settled. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#life;
  }

  #report(state: ChannelState): void {
    this.#state = state.kind;
    this.#bot.ports.report(state);
  }

  async #again(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    try {
      await this.start();
    } catch (thrown) {
      this.#report({ kind: "off", reason: asWaybillError(thrown).message });
    }
  }

  async #keep(hold: Held, begun: () => void): Promise<void> {
    const over = AbortSignal.any([this.#stop.signal, hold.lost]);
    try {
      await this.#poll(over, begun);
    } finally {
      await hold.release();
    }
    if (!this.#stop.signal.aborted) void this.#again();
  }

  /** One question after the other, until it is over. */
  async #poll(over: AbortSignal, begun: () => void): Promise<void> {
    const { clock } = this.#bot.ports;
    let offset: number | undefined;
    let pauseMs = firstPauseMs;
    while (!over.aborted) {
      const at = clock.now();
      try {
        const updates = await this.#ask(offset, over);
        if (this.#state !== "on") this.#report({ kind: "on" });
        begun();
        pauseMs = firstPauseMs;
        await this.#takeAll(updates, over);
        // What could not be stored before the end is not confirmed.
        if (over.aborted) return;
        const last = updates.map(updateIdOf).findLast((id) => id !== null);
        if (last !== undefined && last !== null) offset = last + 1;
        else if (clock.now() - at < soonMs && offset !== undefined) await pause(clock, soonMs, over);
        offset ??= 0;
      } catch (thrown) {
        if (over.aborted) return;
        const wait = await this.#failed(thrown);
        begun();
        await pause(clock, Math.max(pauseMs, wait), over);
        pauseMs = Math.min(longestPauseMs, pauseMs * 2);
      }
    }
  }

  /** The first question is answered at once, so that it is soon known whether polling works. */
  async #ask(offset: number | undefined, over: AbortSignal): Promise<unknown[]> {
    const question = {
      limit: 100,
      timeout: offset === undefined ? 0 : waitSeconds,
      allowed_updates: wantedUpdates,
      ...(offset === undefined ? {} : { offset }),
    };
    return this.#api.getUpdates(question, over as never);
  }

  /**
   * Says how it stands. Resolves with the milliseconds that Telegram wishes to be left alone.
   * @throws WaybillError `config_invalid` for a token that is refused
   */
  async #failed(thrown: unknown): Promise<number> {
    const failure = failureOf(thrown);
    if (isDeadToken(failure)) throw badToken(failure.reason);
    if (failure.kind === "refusal" && failure.code === 409) this.#report(await this.#conflict());
    else this.#report({ kind: "connecting", reason: failure.reason });
    return failure.kind === "busy" ? (failure.afterMs ?? 0) : 0;
  }

  /** Telegram gives updates to one only: to a webhook if one is set, else to whoever asked last. */
  async #conflict(): Promise<ChannelState> {
    const url = await this.#bot.api.getWebhookInfo().then(
      (info) => info.url ?? "",
      () => "",
    );
    if (url !== "") {
      const reason = `Telegram sends the bot's updates to a webhook (${hostOf(url)}), so polling gets none: set telegram.webhook here, or take the other away with deleteWebhook`;
      return { kind: "off", reason };
    }
    const reason =
      "another program polls with telegram.botToken (409); stop it, or give one of the two a bot of its own";
    return { kind: "standing-by", reason };
  }

  async #takeAll(updates: readonly unknown[], over: AbortSignal): Promise<void> {
    const chats = [...Map.groupBy(updates, chatOf).values()];
    const work = async (): Promise<void> => {
      for (let chat = chats.shift(); chat; chat = chats.shift()) {
        for (const update of chat) await this.#take(update, over);
      }
    };
    await Promise.all(Array.from({ length: chatsAtOnce }, work));
  }

  /** Resolves when the update is settled, or when it is over. */
  async #take(update: unknown, over: AbortSignal): Promise<void> {
    const { ports } = this.#bot;
    let pauseMs = firstPauseMs / 4;
    for (let failures = 1; !over.aborted;) {
      try {
        await this.#dispatcher.dispatch(update);
        return;
      } catch (thrown) {
        const { code, message } = asWaybillError(thrown);
        const isOurs = code === "internal" || httpStatusOf(code) < 500;
        if (isOurs && failures >= mostFailures) {
          ports.log.error(
            { code, update: updateIdOf(update) },
            `an update of Telegram was given up: ${message}`,
          );
          return;
        }
        if (isOurs) failures += 1;
        ports.log.warn({ code }, `an update of Telegram is not confirmed yet: ${message}`);
        await pause(ports.clock, pauseMs, over);
        pauseMs = Math.min(longestPauseMs, pauseMs * 2);
      }
    }
  }
}

function chatOf(update: unknown): unknown {
  const { message, edited_message: edited } = (update ?? {}) as Record<string, { chat?: { id?: unknown } }>;
  return (message ?? edited)?.chat?.id ?? null;
}

/** The path of a webhook may hold a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "its address is not readable";
}
