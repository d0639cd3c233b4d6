import { WaybillError } from "../kernel/errors.ts";
import { checkComponent, decodeComponent, encodeComponent, invalidAddress, shown } from "./component.ts";

/**
 * One place where people read. The four fields travel together: an address is used whole or not at all.
 *
 *   channel       the kind of channel: "slack", "web"
 *   account       the team, server or bot there: "T1", "main"
 *   conversation  a room, group or direct message: "C-oncall", "general"
 *   thread        a thread of that conversation, or null for its top level
 *
 * All but `channel` are ids as the platform gives them, not encoded, and nothing is read out of their letters.
 */
export interface Address {
  channel: string;
  account: string;
  conversation: string;
  thread: string | null;
}

const channelName = /^[a-z][a-z0-9-]{0,31}$/;

/** Longer than any address can be: three components, each code unit at most 9 characters when encoded. */
const maxTextLength = 14_000;

/**
 * Reads `channel:account/conversation[/thread]`. Only the canonical form is an address, so texts can be compared and
 * used as keys: `formatAddress(parseAddress(text)) === text`. For any other form of the same address the error's
 * `details.canonical` is the one to use.
 * @throws WaybillError `invalid_address`; `details.field` is `address`, `channel`, `account`, `conversation` or `thread`
 */
export function parseAddress(text: string): Address {
  const { channel, parts } = splitAddress(text);
  const [account, conversation, thread] = parts;
  const address: Address = {
    channel,
    account: decodeComponent("account", account),
    conversation: decodeComponent("conversation", conversation),
    thread: thread === undefined ? null : decodeComponent("thread", thread),
  };
  const canonical = formatAddress(address);
  if (canonical !== text) {
    throw invalidAddress(
      "address",
      `"${shown(text)}" is not how this address is written: write "${canonical}".`,
      {
        canonical,
      },
    );
  }
  return address;
}

/** The address, or null if the text is none. */
export function tryParseAddress(text: string): Address | null {
  try {
    return parseAddress(text);
  } catch (error) {
    if (error instanceof WaybillError && error.code === "invalid_address") return null;
    throw error;
  }
}

/**
 * The canonical text of an address. Different addresses have different texts. It has no white space and fits in one
 * line; inside a URL it still needs that URL's own encoding.
 * @throws WaybillError `invalid_address` if a field cannot be part of an address
 */
export function formatAddress(address: Address): string {
  checkChannel(address.channel);
  checkComponent("account", address.account);
  checkComponent("conversation", address.conversation);
  const root = `${address.channel}:${encodeComponent(address.account)}/${encodeComponent(address.conversation)}`;
  if (address.thread === null) return root;
  checkComponent("thread", address.thread);
  return `${root}/${encodeComponent(address.thread)}`;
}

/** The top level of the address's conversation; of an address without a thread, the same place. */
export function parentOf(address: Address): Address {
  return { ...address, thread: null };
}

/** A thread of the address's conversation. */
export function inThread(address: Address, thread: string): Address {
  return { ...address, thread };
}

export function sameAddress(a: Address, b: Address): boolean {
  return sameConversation(a, b) && a.thread === b.thread;
}

/** True for two places of one conversation, whatever their threads. */
export function sameConversation(a: Address, b: Address): boolean {
  return a.channel === b.channel && a.account === b.account && a.conversation === b.conversation;
}

/** True if `inner` is `outer`, or a thread of the conversation whose top level is `outer`. */
export function isWithin(inner: Address, outer: Address): boolean {
  return sameConversation(inner, outer) && (outer.thread === null || outer.thread === inner.thread);
}

/**
 * Cuts the text into a valid channel name and two or three components, still encoded.
 * @throws WaybillError `invalid_address`
 */
export function splitAddress(text: string): { channel: string; parts: [string, string, string?] } {
  if (text.length > maxTextLength) throw invalidAddress("address", "The text is longer than any address.");
  if (!text.isWellFormed()) {
    throw invalidAddress("address", "The text holds half of a surrogate pair, which is no character.");
  }
  const colon = text.indexOf(":");
  if (colon < 0) throw invalidAddress("channel", `"${shown(text)}" names no channel before a ":".`);
  const channel = text.slice(0, colon);
  checkChannel(channel);
  const [account, conversation, thread, more] = text.slice(colon + 1).split("/", 4);
  if (account === undefined || conversation === undefined) {
    throw invalidAddress("conversation", `"${shown(text)}" has no conversation after a "/".`);
  }
  if (more !== undefined) {
    throw invalidAddress(
      "thread",
      `"${shown(text)}" has too many parts; write a "/" that is part of an id as "%2F".`,
    );
  }
  return { channel, parts: [account, conversation, thread] };
}

function checkChannel(channel: string): void {
  if (channelName.test(channel)) return;
  throw invalidAddress(
    "channel",
    `The channel "${shown(channel)}" is not 1 to 32 of a-z, 0-9 and "-", beginning with a letter.`,
  );
}
