import { formatAddress, parseAddress, sameConversation, type Address } from "../address/address.ts";
import { isWider, type ConversationKind } from "../address/kind.ts";
import { matches, namesOneConversation, parsePattern } from "../address/pattern.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { DeliveryRule, Rejected } from "./sender.ts";

/**
 * A rule that lets content of one place be posted in another. Patterns as in `address/pattern`. For content of anything
 * but a channel, and wherever the audience may be wider, both ends must name one conversation each, without `*`.
 */
export interface CrossPostRule {
  /** Left out: from channels, where the audience does not grow. */
  from?: string;
  to: string;
}

export interface DestinationPolicy {
  /** The one allowlist, asked for every candidate: true, or why not. */
  allows(address: Address): true | string;
  kindOf(address: Address): ConversationKind;
  crossPost: readonly CrossPostRule[];
}

export interface DestinationQuestion {
  /** What the caller named. */
  explicit?: string | null;
  /** The address of the turn that the send belongs to; null outside turns. */
  turn: string | null;
  /** Set only for sends that belong to no turn, and only where the operator switched the slots on. */
  slots?: { lastActive?: string | null; latestSeen?: string | null };
}

export interface Destination {
  address: Address;
  rule: DeliveryRule;
  rejected: Rejected[];
}

/**
 * Where a message goes: explicit target, else the turn's address, else last active, else latest seen; from inside a
 * turn the slots are out of reach. The first candidate that is named is the only one: if the allowlist or a cross-post
 * rule is against it, that is an error, and nothing falls through to the next.
 * @throws WaybillError `invalid_address`, `destination_not_allowed`, `cross_post_not_allowed`, `no_destination`;
 *   `details.use` names the address that would be right.
 */
export function chooseDestination(question: DestinationQuestion, policy: DestinationPolicy): Destination {
  const turn = question.turn === null ? null : parseAddress(question.turn);
  const candidates: { rule: DeliveryRule; text: string | null | undefined }[] = [
    { rule: "explicit", text: question.explicit },
    { rule: "turn", text: question.turn },
    ...(turn === null
      ? ([
          { rule: "last-active", text: question.slots?.lastActive },
          { rule: "latest-seen", text: question.slots?.latestSeen },
        ] as const)
      : []),
  ];
  const candidate = candidates.find((c) => c.text !== null && c.text !== undefined && c.text !== "");
  if (!candidate?.text) {
    throw new WaybillError(
      "no_destination",
      "This message belongs to no turn and names no target. Name one, like `web:main/general`.",
    );
  }
  const address = parseAddress(candidate.text);
  const refusal = policy.allows(address);
  if (refusal !== true) throw notAllowed(candidate.rule, address, refusal, turn);
  if (turn && candidate.rule === "explicit") checkCrossPost(turn, address, policy);
  return { address, rule: candidate.rule, rejected: [] };
}

function notAllowed(
  rule: DeliveryRule,
  address: Address,
  reason: string,
  turn: Address | null,
): WaybillError {
  const use = turn && rule === "explicit" ? formatAddress(turn) : null;
  return new WaybillError(
    "destination_not_allowed",
    `${formatAddress(address)} may not be posted to: ${reason}.` +
      (use ? ` To answer where this was asked, use ${use}, or leave the target out.` : ""),
    { rule, address: formatAddress(address), reason, ...(use ? { use } : {}) },
  );
}

/** With `strict` (a wider audience) both ends must be named: a `*` names nothing, it only matches. */
function permits(rule: CrossPostRule, from: Address, to: Address, strict: boolean): boolean {
  const target = parsePattern(rule.to);
  if (!matches(target, to)) return false;
  if (rule.from === undefined) return !strict;
  const source = parsePattern(rule.from);
  return matches(source, from) && (!strict || (namesOneConversation(source) && namesOneConversation(target)));
}

/** A place and its threads are one conversation; anything else is a cross-post and needs a rule that names it. */
function checkCrossPost(from: Address, to: Address, policy: DestinationPolicy): void {
  if (sameConversation(from, to)) return;
  const fromKind = policy.kindOf(from);
  // Only what was said in a channel is known to be for many; a place of unknown kind may be a direct message.
  const strict = fromKind !== "channel" || isWider(policy.kindOf(to), fromKind);
  const rule = policy.crossPost.find((one) => permits(one, from, to, strict));
  if (rule) return;
  const use = formatAddress(from);
  throw new WaybillError(
    "cross_post_not_allowed",
    `Nothing may be posted from ${use} to ${formatAddress(to)} without a crossPost rule` +
      `${strict ? " that names both ends" : ""}. To answer where this was asked, use ${use}, or leave the target out.`,
    { address: formatAddress(to), use },
  );
}
