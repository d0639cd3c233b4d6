import { asWaybillError } from "../../kernel/errors.ts";
import type { ChannelFinding } from "../channel.ts";
import type { Bot } from "./bot.ts";
import { webhookPath } from "./receive.ts";
import { failureOf } from "./telegram-api.ts";

/** What Telegram says of token, webhook and rights; nothing is changed. */
export async function check(bot: Bot, signal: AbortSignal): Promise<ChannelFinding[]> {
  try {
    await bot.self();
  } catch (thrown) {
    return [{ ok: false, text: asWaybillError(thrown).message }];
  }
  try {
    const [me, hook] = [await bot.api.getMe(signal as never), await bot.api.getWebhookInfo(signal as never)];
    const greeting: ChannelFinding = { ok: true, text: `the bot is @${me.username} (${me.id})` };
    return [greeting, ...updatesOf(bot, hook), ...hearing(bot, me)];
  } catch (thrown) {
    return [{ ok: false, text: `Telegram could not be asked: ${failureOf(thrown).reason}` }];
  }
}

interface Hook {
  url?: string;
  last_error_message?: string;
  pending_update_count: number;
}

function updatesOf({ settings }: Bot, hook: Hook): ChannelFinding[] {
  const { webhook, account } = settings;
  const url = hook.url ?? "";
  const path = webhookPath(account);
  if (webhook === null) {
    if (url === "") return [{ ok: true, text: "updates are polled" }];
    return [
      {
        ok: false,
        text: "a webhook is set at Telegram, so polling gets no updates",
        fix: "set telegram.webhook, or take the webhook away: curl https://api.telegram.org/bot<token>/deleteWebhook",
      },
    ];
  }
  const how = `curl https://api.telegram.org/bot<token>/setWebhook -d url=https://<your address>${path} -d secret_token=<telegram.webhook.secret>`;
  if (url === "")
    return [
      { ok: false, text: "no webhook is set at Telegram", fix: `set telegram.webhook.url, or: ${how}` },
    ];
  if (!URL.canParse(url) || !new URL(url).pathname.endsWith(path)) {
    return [{ ok: false, text: `Telegram's webhook does not end in ${path}`, fix: how }];
  }
  if (hook.last_error_message !== undefined && hook.pending_update_count > 0) {
    const text = `${hook.pending_update_count} updates wait; Telegram's last try: ${hook.last_error_message.slice(0, 200)}`;
    return [
      {
        ok: false,
        text,
        fix: "look that the address can be reached from outside and that the secrets are the same",
      },
    ];
  }
  return [{ ok: true, text: "updates come by webhook" }];
}

function hearing({ settings }: Bot, me: { can_read_all_group_messages?: boolean }): ChannelFinding[] {
  if (settings.listen !== "all" || me.can_read_all_group_messages !== false) return [];
  return [
    {
      ok: false,
      text: 'telegram.listen is "all", but in groups Telegram tells the bot only what is meant for it',
      fix: "turn its privacy mode off (@BotFather, /setprivacy, Disable), then take the bot out of its groups and add it again",
    },
  ];
}
