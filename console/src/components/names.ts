import type { WireConversation, WireMessage } from "../../../src/http/api.ts";
import type { Translate } from "../app/language.tsx";
import type { Speaker } from "../data/speakers.ts";

/** What a place is called in lists: its title, else the platform's own id of it. */
export function nameOf(conversation: WireConversation): string {
  const { title, thread } = conversation;
  if (thread === null) return title ?? conversation.conversation;
  return `${conversation.conversation} › ${title ?? thread}`;
}

/** `#general` for what is wider than two. */
export function markOf(conversation: Pick<WireConversation, "kind">): "#" | "@" {
  return conversation.kind === "channel" || conversation.kind === "group" ? "#" : "@";
}

/** Who wrote a person's message. Who sends without a name is the operator. */
export function senderName(t: Translate, sender: WireMessage["sender"] | Speaker): string {
  if (sender === null || sender.id === "operator") return sender?.name ?? t("console.chat.operator");
  return sender.name ?? sender.id;
}

/** A name of letters, digits, `.`, `_` and `-`, which stands in an address as it is. */
export function slugOf(name: string): string {
  return name
    .normalize("NFC")
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, "-")
    .replaceAll(/[^\p{L}\p{N}._-]|[\u115F\u1160\u3164\uFFA0]/gu, "")
    .replaceAll(/-{2,}/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")
    .slice(0, 60);
}
