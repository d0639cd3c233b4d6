import { parseAddress, type Address } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import { chooseDestination } from "../deliveries/choose-destination.ts";
import { placeOf } from "../deliveries/plan-delivery.ts";
import type { Place } from "../deliveries/post-message.ts";
import { readConversationKind } from "../deliveries/read-conversations.ts";
import type { DeliveryRule } from "../deliveries/sender.ts";
import type { RunServices } from "./services.ts";

/** The turn in whose name something is sent: where its answer is due, and how wide that place is. */
export interface SendingTurn {
  address: string;
  kind: ConversationKind;
}

/**
 * Where a message of a turn goes: the target that is named, under the rules, else the turn's own address.
 * @throws WaybillError `invalid_address`, `destination_not_allowed`, `cross_post_not_allowed`
 */
export async function chooseTarget(
  s: RunServices,
  turn: SendingTurn,
  explicit: string | null,
): Promise<{ place: Place; rule: DeliveryRule }> {
  const kinds = new Map<string, ConversationKind>([[turn.address, turn.kind]]);
  const named = explicit === null ? null : placeOf(parseAddress(explicit), "unknown");
  if (named) {
    const kind = await readConversationKind(s.db, s.tenant, named);
    kinds.set(named.address, kind).set(named.parent ?? named.address, kind);
  }
  const kindOf = (address: Address): ConversationKind =>
    kinds.get(placeOf(address, "unknown").address) ?? "unknown";
  const chosen = chooseDestination(
    { explicit, turn: turn.address },
    { kindOf, crossPost: s.crossPost, allows: (address) => s.allows(placeOf(address, kindOf(address))) },
  );
  return { place: placeOf(chosen.address, kindOf(chosen.address)), rule: chosen.rule };
}
