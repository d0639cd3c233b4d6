import type { WireConversation } from "../../../../src/http/api.ts";
import { nameOf } from "../../components/names.ts";

/** How many messages of a place were not read here. */
export function unreadOf(conversation: WireConversation, read: Readonly<Record<string, number>>): number {
  return Math.max(0, conversation.lastPostSeq - (read[conversation.address] ?? 0));
}

export interface Listed {
  conversation: WireConversation;
  unread: number;
  threads: readonly { conversation: WireConversation; unread: number }[];
}

export interface Groups {
  channels: readonly Listed[];
  direct: readonly Listed[];
}

interface Wanted {
  /** What somebody typed to find something. */
  wish: string;
  /** The address that is open, with its thread. */
  active: string | null;
  read: Readonly<Record<string, number>>;
}

const threadsMost = 6;

/**
 * The conversations as they are listed, each with the threads that matter now: those that are unread, open, or of the
 * open conversation; with a wish, those that fit it.
 */
export function groupConversations(items: readonly WireConversation[], wanted: Wanted): Groups {
  const words = wanted.wish.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (one: WireConversation): boolean => {
    const text = `${nameOf(one)} ${one.address}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const threadsOf = Map.groupBy(
    items.filter(({ parent }) => parent !== null),
    ({ parent }) => parent,
  );
  const listed = items
    .filter(({ parent }) => parent === null)
    .map((conversation) => {
      const all = threadsOf.get(conversation.address) ?? [];
      const isOpen =
        wanted.active === conversation.address || wanted.active?.startsWith(`${conversation.address}/`);
      const threads = all
        .map((thread) => ({ conversation: thread, unread: unreadOf(thread, wanted.read) }))
        .filter((thread) =>
          words.length > 0
            ? fits(thread.conversation)
            : thread.unread > 0 || isOpen || thread.conversation.address === wanted.active,
        )
        .slice(0, threadsMost);
      return { conversation, unread: unreadOf(conversation, wanted.read), threads };
    })
    .filter(({ conversation, threads }) => words.length === 0 || threads.length > 0 || fits(conversation));
  const isWide = ({ conversation: { kind } }: Listed): boolean => kind === "channel" || kind === "group";
  return { channels: listed.filter(isWide), direct: listed.filter((one) => !isWide(one)) };
}

/** All places of the list from top to bottom, for going through them by key. */
export function inOrder(groups: Groups): { address: string; unread: number }[] {
  return [...groups.channels, ...groups.direct].flatMap(({ conversation, unread, threads }) => [
    { address: conversation.address, unread },
    ...threads.map((thread) => ({ address: thread.conversation.address, unread: thread.unread })),
  ]);
}
