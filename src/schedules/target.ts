import { parseAddress, tryParseAddress, type Address } from "../address/address.ts";
import { asWaybillError } from "../kernel/errors.ts";
import { slotNames, type SlotName } from "../turns/slots.ts";

/** Where output is to go, as it was written. */
export interface TargetWish {
  /** An address, part of one (`slack:T1`), `last-active` or `latest-seen`; null: nothing was written. */
  to: string | null;
  /** With a slot: whose, such as `slack:T1`. */
  account: string | null;
}

export type Target =
  | { kind: "address"; address: Address }
  | { kind: "slot"; slot: SlotName; channel: string; account: string }
  /** Not a whole place: held until an operator completes it. */
  | { kind: "incomplete"; reason: string };

export function isSlotName(text: string): text is SlotName {
  return (slotNames as readonly string[]).includes(text);
}

/** `slack:T1`, as slots are named by; null if it is none. */
export function parseAccount(text: string): { channel: string; account: string } | null {
  // An account is the beginning of the addresses in it.
  const address = tryParseAddress(`${text}/x`);
  if (!address || address.thread !== null) return null;
  return { channel: address.channel, account: address.account };
}

/** Why a target can never be one, field by field; empty for one that is whole, or only incomplete. */
export function targetProblems({ to, account }: TargetWish): { field: "to" | "account"; rule: string }[] {
  if (to !== null && isSlotName(to)) {
    if (account === null) {
      return [{ field: "account", rule: `is missing: whose "${to}"? Write it as in "slack:T1".` }];
    }
    if (parseAccount(account)) return [];
    return [{ field: "account", rule: 'is no account. Write channel and account, as in "slack:T1".' }];
  }
  if (account !== null) {
    return [
      { field: "account", rule: 'goes only with to: "last-active" or "latest-seen"; an address has it.' },
    ];
  }
  if (to === null || isPartOfAddress(to)) return [];
  try {
    parseAddress(to);
    return [];
  } catch (thrown) {
    const said = asWaybillError(thrown).message;
    return [{ field: "to", rule: `is no place: ${said} "last-active" and "latest-seen" are places too.` }];
  }
}

/** `slack:T1` or `slack:T1/`: an address whose conversation is not filled in yet. */
function isPartOfAddress(text: string): boolean {
  return parseAccount(text.replace(/\/$/, "")) !== null;
}

/** Reads a target that `targetProblems` has nothing against. */
export function readTarget({ to, account }: TargetWish): Target {
  if (to === null) return { kind: "incomplete", reason: "no destination is set" };
  if (isSlotName(to)) {
    const whose = account === null ? null : parseAccount(account);
    if (whose) return { kind: "slot", slot: to, ...whose };
    return { kind: "incomplete", reason: `${to} needs an account` };
  }
  const address = tryParseAddress(to);
  if (address) return { kind: "address", address };
  return { kind: "incomplete", reason: `${to} names no conversation` };
}
