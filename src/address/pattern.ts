import { type Address, splitAddress } from "./address.ts";
import { decodeComponent, encodeComponent, invalidAddress, shown } from "./component.ts";

/** A component of a pattern: one id, or any. */
export type PatternPart = { is: string } | { any: true };

/**
 * Places, as an operator names them in `routes`, `crossPost` and `allow`. `thread: null` is the conversation with all
 * its threads; `thread: { any: true }` its threads without its top level.
 */
export interface AddressPattern {
  /** As it was written. */
  text: string;
  channel: string;
  account: PatternPart;
  conversation: PatternPart;
  thread: PatternPart | null;
}

const anyPart = "*";

/**
 * Reads a pattern: an address text, in which `*` may stand for a whole account, conversation or thread.
 *
 *   slack:T1/C-oncall      that conversation and its threads
 *   slack:T1/C-oncall/*    its threads only
 *   slack:T1/*             everything in that account
 *
 * @throws WaybillError `invalid_address`, as for addresses
 */
export function parsePattern(text: string): AddressPattern {
  const { channel, parts } = splitAddress(text);
  const [account, conversation, thread] = parts;
  return {
    text,
    channel,
    account: parsePart("account", account),
    conversation: parsePart("conversation", conversation),
    thread: thread === undefined ? null : parsePart("thread", thread),
  };
}

function parsePart(field: string, encoded: string): PatternPart {
  if (encoded === anyPart) return { any: true };
  if (encoded.includes(anyPart)) {
    throw invalidAddress(
      field,
      `In "${shown(encoded)}" a "*" is only a part of the ${field}. It stands for a whole one; write a "*" that is ` +
        `part of an id as "%2A".`,
    );
  }
  const id = decodeComponent(field, encoded);
  const canonical = encodeComponent(id);
  if (canonical === encoded) return { is: id };
  throw invalidAddress(
    field,
    `"${shown(encoded)}" is not how this ${field} is written: write "${canonical}".`,
    {
      canonical,
    },
  );
}

/** True if the address is one of the places that the pattern names. */
export function matches(pattern: AddressPattern, address: Address): boolean {
  return (
    pattern.channel === address.channel &&
    partMatches(pattern.account, address.account) &&
    partMatches(pattern.conversation, address.conversation) &&
    (pattern.thread === null || (address.thread !== null && partMatches(pattern.thread, address.thread)))
  );
}

/** True if the pattern names one conversation (or one thread of it), so that it cannot match a place nobody thought of. */
export function namesOneConversation(pattern: AddressPattern): boolean {
  return "is" in pattern.account && "is" in pattern.conversation;
}

function partMatches(part: PatternPart, id: string): boolean {
  return "any" in part || part.is === id;
}
