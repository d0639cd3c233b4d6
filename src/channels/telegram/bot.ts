import { WaybillError } from "../../kernel/errors.ts";
import type { ChannelPorts } from "../channel.ts";
import { failureOf, isDeadToken, telegramApi, type TelegramApi } from "./telegram-api.ts";
import type { TelegramSettings } from "./telegram-settings.ts";

/** Who we are, as `getMe` says. */
export interface Self {
  id: number;
  /** Without the @. */
  username: string;
}

/** One bot, as all parts of its channel see it. */
export class Bot {
  readonly settings: TelegramSettings;
  readonly ports: ChannelPorts;
  readonly api: TelegramApi;
  #self: Promise<Self> | null = null;
  #off = false;

  constructor(settings: TelegramSettings, ports: ChannelPorts) {
    this.settings = settings;
    this.ports = ports;
    this.api = telegramApi(settings, ports.clock);
  }

  /**
   * Who we are, asked once.
   * @throws WaybillError `config_invalid` for a token that is refused, `platform_unavailable`
   */
  self(): Promise<Self> {
    this.#self ??= this.#ask().catch((thrown: unknown) => {
      this.#self = null;
      throw thrown;
    });
    return this.#self;
  }

  async #ask(): Promise<Self> {
    try {
      const { id, username } = await this.api.getMe();
      return { id, username: username ?? "" };
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (failure.kind === "refusal") throw badToken(failure.reason);
      throw new WaybillError(
        "platform_unavailable",
        `Telegram could not be asked who the bot is: ${failure.reason}.`,
      );
    }
  }

  /** Tells operators when the token stops working, and when it works again. */
  heard(thrown: unknown): void {
    const failure = thrown === null ? null : failureOf(thrown);
    if (failure === null || (failure.kind === "refusal" && !isDeadToken(failure))) {
      if (this.#off) this.ports.report({ kind: "on" });
      this.#off = false;
    } else if (isDeadToken(failure) && !this.#off) {
      this.#off = true;
      const { message } = badToken(failure.reason);
      this.ports.log.error({ account: this.settings.account }, `${message} Posts wait for a new token.`);
      this.ports.report({ kind: "off", reason: message });
    }
  }
}

export function badToken(reason: string): WaybillError {
  return new WaybillError(
    "config_invalid",
    `telegram.botToken is of no use: ${reason}. Ask @BotFather for the bot's token (/token), or for a new one (/revoke).`,
    { field: "telegram.botToken" },
  );
}
