import { parseAddress, type Address } from "../../address/address.ts";
import type { ConversationKind } from "../../address/kind.ts";
import type { IncomingMessage } from "../channel.ts";
import type { TelegramSettings } from "./telegram-settings.ts";

/**
 * May something be said and posted at a place? Private chats by `dms` and `users` (a private chat has the id of its
 * person), all others by `chats`. A chat of which Telegram has not told the kind has to be listed by its id: `"*"` does
 * not mean it.
 */
export function allowsAddress(
  settings: TelegramSettings,
  address: Address,
  kind: ConversationKind,
): true | string {
  const { account, allow } = settings;
  const { conversation, thread } = address;
  if (address.account !== account) return `this channel has the account ${account}`;
  if (!isChatId(conversation)) return "a chat of Telegram has a number";
  if (thread !== null && !/^[1-9]\d{0,15}$/.test(thread)) return "a topic of Telegram has a number";
  switch (kind) {
    case "dm":
      if (!allow.dms) return "private chats are off in allow.dms";
      return has(allow.users, conversation) || "the person is not in allow.users";
    case "group":
    case "channel":
      return has(allow.chats, conversation) || "the chat is not in allow.chats";
    case "unknown":
      return (
        (allow.chats !== "*" && allow.chats.includes(conversation)) ||
        "Telegram has not told what kind of chat it is, and its id is not in allow.chats"
      );
  }
}

/** Both the person and the place have to be allowed. */
export function authorize(settings: TelegramSettings, { place, sender }: IncomingMessage): true | string {
  if (!has(settings.allow.users, sender.id)) return "the sender is not in allow.users";
  return allowsAddress(settings, parseAddress(place.address), place.kind);
}

/** Numbers of up to 52 bits; what a group is called with an @ may be another group's tomorrow. */
export function isChatId(id: string): boolean {
  return /^-?[1-9]\d{0,15}$/.test(id);
}

export function has(list: readonly string[] | "*", id: string): boolean {
  return list === "*" || list.includes(id);
}
