import { parseAddress } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import { command } from "../db/command.ts";
import { chooseDestination } from "../deliveries/choose-destination.ts";
import { placeOf, planDelivery } from "../deliveries/plan-delivery.ts";
import { readConversationKind } from "../deliveries/read-conversations.ts";
import { recordDelivery, type NewDelivery } from "../deliveries/record-delivery.ts";
import type { DeliveryRule } from "../deliveries/sender.ts";
import { canonicalJson, sha256 } from "../kernel/digest.ts";
import { WaybillError } from "../kernel/errors.ts";
import { readRun } from "../ledger/read-runs.ts";
import { once, type IdempotencyKey } from "../turns/idempotency.ts";
import type { RunServices } from "./services.ts";

export interface OutsideSend {
  to: string;
  text: string;
  run?: string;
  id?: string;
  /** The rule by which `to` was found, where it was not named: a slot. */
  rule?: DeliveryRule;
}

export interface OutsideSent {
  delivery: string;
  address: string;
  state: string;
}

export const recordSend = command(
  "runs.record-send",
  function* (input: { tenant: string; key: IdempotencyKey | null; delivery: NewDelivery }, env) {
    const { delivery } = input;
    const state =
      delivery.mode === "posted" ? "delivered" : delivery.mode === "blocked" ? "blocked" : "pending";
    const sent: OutsideSent = { delivery: delivery.id, address: delivery.place.address, state };
    const before = input.key ? yield* once(input.tenant, input.key, sent, env.now) : null;
    if (before) return before;
    yield* recordDelivery(delivery, env.now);
    return sent;
  },
);

/**
 * A send that comes through a door, not from inside a run: an operator's, or an agent's that names its run. In a run's
 * name the rules are those of its turn; the operator may name any place that the allowlist has.
 * @throws WaybillError `invalid_address`, `destination_not_allowed`, `cross_post_not_allowed`, `unknown_run`, `idempotency_conflict`
 */
export async function sendOutside(s: RunServices, request: OutsideSend): Promise<OutsideSent> {
  const run = request.run === undefined ? null : await readRun(s.db, s.tenant, request.run);
  if (request.run !== undefined && !run) {
    throw new WaybillError("unknown_run", `There is no run ${request.run}.`, { run: request.run });
  }
  const target = placeOf(parseAddress(request.to), "unknown");
  const kind = await readConversationKind(s.db, s.tenant, target);
  const turnKind: ConversationKind = run
    ? await readConversationKind(s.db, s.tenant, placeOf(parseAddress(run.replyTo), "unknown"))
    : "unknown";
  const kindOf = (address: Parameters<typeof placeOf>[0]): ConversationKind =>
    placeOf(address, "unknown").address === target.address ? kind : turnKind;
  const chosen = chooseDestination(
    { explicit: request.to, turn: run?.replyTo ?? null },
    { kindOf, crossPost: s.crossPost, allows: (address) => s.allows(placeOf(address, kindOf(address))) },
  );
  const place = placeOf(chosen.address, kind);
  const wish = {
    run: run?.id ?? null,
    turn: run?.turn ?? null,
    place,
    text: request.text,
    rule: request.rule ?? chosen.rule,
  };
  const delivery = planDelivery({ kind: "send", ...wish }, s);
  const digest = sha256(canonicalJson([request.to, request.text, request.run ?? null]));
  const key =
    request.id === undefined ? null : { scope: `send:${request.run ?? "operator"}`, key: request.id, digest };
  const sent = await s.db.do(recordSend, { tenant: s.tenant, key, delivery });
  s.hear.posted(sent.address);
  if (delivery.mode === "outbox") s.hear.opsAdded();
  return sent;
}
