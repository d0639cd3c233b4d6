import { WaybillError } from "../../kernel/errors.ts";
import { pause } from "../../kernel/pause.ts";
import { splitMarkdown } from "../../texts/split-markdown.ts";
import type { Channel, ChannelFactory, ChannelPorts } from "../channel.ts";
import { allowsAddress, authorize } from "./allow.ts";
import { Bot } from "./bot.ts";
import { check } from "./check.ts";
import { Dispatcher } from "./dispatch.ts";
import { Files } from "./files.ts";
import { liveSender } from "./live.ts";
import { Poller } from "./poll.ts";
import { wantedUpdates } from "./read-update.ts";
import { receive, webhookPath } from "./receive.ts";
import { reconcile, send } from "./send.ts";
import { failureOf } from "./telegram-api.ts";
import { readTelegramOptions, type TelegramOptions, type TelegramSettings } from "./telegram-settings.ts";

/**
 * A bot on Telegram. docs/telegram.md says how to make one, and what Telegram cannot do.
 *
 *   telegram({ botToken: "123456789:AA…", allow: { users: [123], chats: [-100123], dms: true } })
 *
 * @throws WaybillError `config_invalid`
 */
export function telegram(options: TelegramOptions): ChannelFactory {
  const settings = readTelegramOptions(options);
  return { kind: "telegram", account: settings.account, connect: (ports) => connect(settings, ports) };
}

function connect(settings: TelegramSettings, ports: ChannelPorts): Channel {
  const bot = new Bot(settings, ports);
  const dispatcher = new Dispatcher(bot, new Files(bot));
  const { account, webhook, maxText, preview } = settings;
  const poller = webhook === null ? new Poller(bot, dispatcher) : null;
  const stopped = new AbortController();
  const split = (text: string): string[] => joinBlank(splitMarkdown(text, maxText));
  return {
    kind: "telegram",
    account,
    authorize: (incoming) => authorize(settings, incoming),
    ...(webhook === null
      ? {}
      : { handle: (request: Request) => receive(bot, webhook.secret, dispatcher, request) }),
    sender: {
      channel: "telegram",
      inTransaction: false,
      can: { edit: true, delete: true, preview },
      allows: (address, kind) => allowsAddress(settings, address, kind),
      split,
      send: (op) => send(bot, op),
      reconcile,
      live: liveSender(bot, split),
    },
    async start() {
      await untilReached(bot, stopped.signal, async () => void (await bot.self()));
      if (stopped.signal.aborted) return;
      if (webhook?.url)
        await untilReached(bot, stopped.signal, () => setWebhook(bot, webhook.secret, webhook.url ?? ""));
      if (poller) await poller.start();
      else if (!stopped.signal.aborted) ports.report({ kind: "on" });
    },
    async stop() {
      stopped.abort();
      await poller?.stop();
    },
    check: (signal) => check(bot, signal),
  };
}

/** Telegram takes white space off the ends of a post, and makes none of white space alone. */
function joinBlank(pieces: readonly string[]): string[] {
  const joined: string[] = [];
  for (const piece of pieces) {
    if (piece.trim() === "" && joined.length > 0) joined[joined.length - 1] += piece;
    else joined.push(piece);
  }
  return joined;
}

/** @throws WaybillError `config_invalid` if Telegram does not take the address, `platform_unavailable` */
async function setWebhook({ settings, api }: Bot, secret: string, url: string): Promise<void> {
  try {
    const hook = { url: url + webhookPath(settings.account), secret_token: secret };
    await api.setWebhook({ ...hook, allowed_updates: wantedUpdates });
  } catch (thrown) {
    const failure = failureOf(thrown);
    if (failure.kind !== "refusal") {
      throw new WaybillError(
        "platform_unavailable",
        `Telegram could not be told the webhook: ${failure.reason}.`,
      );
    }
    throw new WaybillError(
      "config_invalid",
      `telegram.webhook.url is of no use: Telegram answered "${failure.says}". It must be an address with https that Telegram can reach, on port 443, 80, 88 or 8443.`,
      { field: "telegram.webhook.url" },
    );
  }
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/**
 * Does it; again and again while Telegram cannot be reached.
 * @throws WaybillError for what trying again does not help
 */
async function untilReached({ ports }: Bot, stopped: AbortSignal, work: () => Promise<void>): Promise<void> {
  for (let pauseMs = firstPauseMs; !stopped.aborted; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      await work();
      return;
    } catch (thrown) {
      if (!(thrown instanceof WaybillError) || thrown.code !== "platform_unavailable") throw thrown;
      ports.report({ kind: "connecting", reason: thrown.message });
      await pause(ports.clock, pauseMs, stopped);
    }
  }
}
