import { formatAddress, parseAddress, type Address } from "../address/address.ts";
import { chooseDestination, type DestinationQuestion } from "../deliveries/choose-destination.ts";
import { placeOf } from "../deliveries/plan-delivery.ts";
import type { Place } from "../deliveries/post-message.ts";
import { readConversationKind } from "../deliveries/read-conversations.ts";
import type { DeliveryRule, Rejected } from "../deliveries/sender.ts";
import { WaybillError } from "../kernel/errors.ts";
import { readRun } from "../ledger/read-runs.ts";
import { accountText, readSlots, type SlotName } from "../turns/slots.ts";
import type { ScheduleServices } from "./services.ts";
import { readTarget, type Target, type TargetWish } from "./target.ts";

/** A whole place that may be posted to, or why there is none. */
export type Resolved = Found | Missing;

export interface Found {
  kind: "found";
  place: Place;
  rule: DeliveryRule;
  /** The slot that it was taken from; asked again in the commit. */
  slot: { account: string; slot: SlotName } | null;
}

export interface Missing {
  /** `held`: it is not a whole place. `blocked`: it is one, and the rules are against it. */
  kind: "held" | "blocked";
  /** The place that was refused; empty where there is none. */
  address: string;
  rule: DeliveryRule;
  rejected: Rejected[];
  reason: string;
}

/** What a destination is asked for: a schedule, or a send outside turns. */
export interface Asker extends TargetWish {
  /** The run that asked for a reminder: its turn's address is where the content came from. */
  askedBy?: string | null;
}

type Services = Pick<ScheduleServices, "tenant" | "db" | "senders" | "allows" | "crossPost" | "slots">;

/**
 * Where something goes that belongs to no turn. Nothing is guessed: a target that is not whole, an empty slot and a
 * channel that is not there are `held`; a place that the allowlist or a cross-post rule is against is `blocked`, and
 * never replaced by the next one.
 */
export async function resolveDestination(s: Services, asker: Asker): Promise<Resolved> {
  const target = readTarget(asker);
  if (target.kind === "incomplete") return missing(target.reason);
  if (target.kind === "slot") return resolveSlot(s, target);
  const { address } = target;
  if (!s.senders.has(address.channel)) {
    return { ...missing(`no channel ${address.channel} is configured`), address: formatAddress(address) };
  }
  const origin = await originOf(s, asker.askedBy ?? null);
  const question = { explicit: formatAddress(address), turn: origin };
  return settle(s, question, () => "configured", null);
}

/**
 * The place that an operator names for something that was held.
 * @throws WaybillError `invalid_address`, `destination_not_allowed`
 */
export async function resolveExplicit(s: Services, to: string): Promise<Found> {
  const kind = await readConversationKind(s.db, s.tenant, placeOf(parseAddress(to), "unknown"));
  const kindOf = () => kind;
  const { address, rule } = chooseDestination(
    { explicit: to, turn: null },
    { kindOf, crossPost: s.crossPost, allows: (one) => s.allows(placeOf(one, kind)) },
  );
  return { kind: "found", place: placeOf(address, kind), rule, slot: null };
}

async function resolveSlot(s: Services, target: Target & { kind: "slot" }): Promise<Resolved> {
  const { slot, channel } = target;
  const account = accountText(channel, target.account);
  if (!s.slots) {
    return missing(`the slot ${slot} is switched off: set lastActive: true, or name an address`, slot);
  }
  if (!s.senders.has(channel)) return missing(`no channel ${channel} is configured`, slot);
  const slots = await readSlots(s.db, s.tenant, account);
  const lastActive = slot === "last-active" ? slots["last-active"] : null;
  const latestSeen = slots["latest-seen"];
  if (lastActive === null && latestSeen === null) {
    return missing(`the slot ${slot} of ${account} is empty: nobody has spoken there since it was on`, slot);
  }
  return settle(s, { turn: null, slots: { lastActive, latestSeen } }, (rule) => rule, account);
}

async function settle(
  s: Services,
  question: DestinationQuestion,
  ruleOf: (chosen: DeliveryRule) => DeliveryRule,
  account: string | null,
): Promise<Resolved> {
  const named = [question.explicit, question.slots?.lastActive, question.slots?.latestSeen, question.turn];
  const kinds = new Map<string, Place["kind"]>();
  for (const text of named) {
    if (typeof text !== "string") continue;
    kinds.set(text, await readConversationKind(s.db, s.tenant, placeOf(parseAddress(text), "unknown")));
  }
  const kindOf = (address: Address): Place["kind"] => kinds.get(formatAddress(address)) ?? "unknown";
  try {
    const { address, rule } = chooseDestination(question, {
      kindOf,
      crossPost: s.crossPost,
      allows: (one) => s.allows(placeOf(one, kindOf(one))),
    });
    const slot = account !== null && isSlotRule(rule) ? { account, slot: rule } : null;
    return { kind: "found", place: placeOf(address, kindOf(address)), rule: ruleOf(rule), slot };
  } catch (error) {
    if (error instanceof WaybillError) return refused(error, ruleOf);
    throw error;
  }
}

function isSlotRule(rule: DeliveryRule): rule is SlotName {
  return rule === "last-active" || rule === "latest-seen";
}

function refused(error: WaybillError, ruleOf: (chosen: DeliveryRule) => DeliveryRule): Missing {
  const { address, reason, rule: by } = error.details as Record<string, string | undefined>;
  if (address === undefined) throw error;
  const rule = ruleOf((by ?? "explicit") as DeliveryRule);
  const why = reason ?? error.code;
  return {
    kind: "blocked",
    address,
    rule,
    rejected: [{ rule, address, reason: why }],
    reason: `${address} may not be posted to: ${why}`,
  };
}

function missing(reason: string, rule: DeliveryRule = "configured"): Missing {
  return { kind: "held", address: "", rule, rejected: [], reason };
}

/** Where the content of a reminder came from, so that it crosses only where its run might have. */
async function originOf(s: Services, run: string | null): Promise<string | null> {
  if (run === null) return null;
  const found = await readRun(s.db, s.tenant, run);
  return found?.replyTo ?? null;
}
