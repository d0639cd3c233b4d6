import { parseAddress, type Address } from "../../address/address.ts";
import type { IncomingMessage } from "../channel.ts";
import type { PlaceKind } from "./directory.ts";
import type { SlackSettings } from "./slack-settings.ts";

/**
 * May something be said and posted in a conversation? Direct and group messages by `dms`, channels by `channels`. A
 * conversation of which Slack has not told the kind has to be listed by its id: `"*"` does not mean it.
 */
function allowsPlace({ allow }: SlackSettings, conversation: string, kind: PlaceKind): true | string {
  switch (kind) {
    case "dm":
    case "group":
      return allow.dms || "direct messages are off in allow.dms";
    case "channel":
      return has(allow.channels, conversation) || "the conversation is not in allow.channels";
    case "unknown":
      return (
        (allow.channels !== "*" && allow.channels.includes(conversation)) ||
        "Slack has not told what kind of conversation it is, and its id is not in allow.channels"
      );
  }
}

export function allowsAddress(settings: SlackSettings, address: Address, kind: PlaceKind): true | string {
  if (address.account !== settings.account) return `this workspace is ${settings.account}`;
  return allowsPlace(settings, address.conversation, kind);
}

/** Both the person and the place have to be allowed. */
export function authorize(settings: SlackSettings, { place, sender }: IncomingMessage): true | string {
  if (!has(settings.allow.users, sender.id)) return "the sender is not in allow.users";
  return allowsAddress(settings, parseAddress(place.address), place.kind);
}

function has(list: readonly string[] | "*", id: string): boolean {
  return list === "*" || list.includes(id);
}
