import { formatAddress, parentOf, type Address } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Place } from "./post-message.ts";
import type { DeliveryKind, NewDelivery } from "./record-delivery.ts";
import type { DeliveryRule, Rejected, Sender } from "./sender.ts";

export interface DeliveryWish {
  kind: DeliveryKind;
  run: string | null;
  turn: string | null;
  place: Place;
  text: string;
  /** JSON `{ v: 1, parts }`; left out: the text as one part. */
  parts?: string;
  notice?: { key: string; values: Record<string, string | number> } | null;
  rule: DeliveryRule;
  rejected?: readonly Rejected[];
  /** The delivery whose post is finished in place by this one. */
  preview?: string | null;
  message?: string;
  /** The schedule that it comes from. */
  schedule?: string;
  /** The delivery that was held for want of an address, and now has one. */
  held?: string;
}

/** What every place needs to be named by, from its address and what is known of its kind. */
export function placeOf(address: Address, kind: ConversationKind, title: string | null = null): Place {
  return {
    address: formatAddress(address),
    parent: address.thread === null ? null : formatAddress(parentOf(address)),
    channel: address.channel,
    account: address.account,
    kind,
    title,
  };
}

/**
 * Turns a wish into what a command can store: asks the channel's sender how it posts, whether it may, and where it
 * splits a text. A closed destination makes the delivery `blocked`, with the reason; it is never sent elsewhere.
 */
export function planDelivery(
  wish: DeliveryWish,
  context: {
    tenant: string;
    senders: ReadonlyMap<string, Sender>;
    ids: Ids;
    allows: (place: Place) => true | string;
  },
): NewDelivery {
  const { tenant, senders, ids } = context;
  const sender = senders.get(wish.place.channel);
  // A channel may have gone from the settings since it was asked there; the run ends all the same.
  const refusal = sender ? context.allows(wish.place) : `no channel ${wish.place.channel} is configured`;
  const mode = refusal !== true ? "blocked" : sender?.inTransaction ? "posted" : "outbox";
  const texts = mode === "posted" ? [] : (sender?.split(wish.text, wish.place.account) ?? [wish.text]);
  const pieces = texts.map((text) => ({ op: ids.next("op"), text }));
  return {
    tenant,
    id: wish.preview ?? wish.held ?? ids.next("dlv"),
    kind: wish.kind,
    run: wish.run,
    turn: wish.turn,
    place: wish.place,
    rule: wish.rule,
    rejected: wish.rejected ?? [],
    message: {
      id: wish.message ?? ids.next("msg"),
      text: wish.text,
      parts: wish.parts ?? JSON.stringify({ v: 1, parts: [{ type: "text", text: wish.text }] }),
      notice: wish.notice ? { key: wish.notice.key, values: JSON.stringify(wish.notice.values) } : null,
    },
    mode,
    reason: refusal === true ? null : refusal,
    pieces,
    preview: wish.preview !== undefined && wish.preview !== null,
    schedule: wish.schedule ?? null,
    completes: wish.held !== undefined,
  };
}

/** The same delivery with another text, for a text that only the command knows. One piece: such texts are short. */
export function withText(delivery: NewDelivery, text: string): NewDelivery {
  const [piece] = delivery.pieces;
  return {
    ...delivery,
    message: {
      ...delivery.message,
      text,
      parts: JSON.stringify({ v: 1, parts: [{ type: "text", text }] }),
      notice: null,
    },
    pieces: piece ? [{ op: piece.op, text }] : [],
  };
}
