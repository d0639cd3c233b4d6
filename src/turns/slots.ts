import { encodeComponent } from "../address/component.ts";
import { all, command, first, type Program } from "../db/command.ts";
import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";
import type { Place } from "../deliveries/post-message.ts";

/**
 * Two places that each account remembers for sends that belong to no turn:
 *
 * - `last-active`: where an allowed person last asked an agent something;
 * - `latest-seen`: where an allowed person last did anything that the bot saw, a reserved word too.
 *
 * Nothing inside a turn reads them: that is how a question asked in a DM came to be answered in public elsewhere. What
 * the bot itself posts, and what a schedule asks, moves neither.
 */
export type SlotName = "last-active" | "latest-seen";

export const slotNames: readonly SlotName[] = ["last-active", "latest-seen"];

/** `slack:T1`: the account as the beginning of its addresses. */
export function accountText(channel: string, account: string): string {
  return `${channel}:${encodeComponent(account)}`;
}

const setSlot = statement<{ tenant: string; account: string; slot: string; address: string; at: number }>()(
  (k, p) =>
    k
      .insertInto("slots")
      .values({ tenant_id: p.tenant, account: p.account, slot: p.slot, address: p.address, at: p.at })
      .onConflict((c) =>
        c.columns(["tenant_id", "account", "slot"]).doUpdateSet({ address: p.address, at: p.at }),
      ),
);

/** A person asked an agent something here: both slots follow. Part of a larger command. */
export function* noteSlots(tenant: string, place: Place, now: number): Program<void> {
  const account = accountText(place.channel, place.account);
  yield* all(setSlot, { tenant, account, slot: "last-active", address: place.address, at: now });
  yield* noteSeen(tenant, place, now);
}

/** A person did something here that no agent answers: only what was seen latest follows. Part of a larger command. */
export function* noteSeen(tenant: string, place: Place, now: number): Program<void> {
  const account = accountText(place.channel, place.account);
  yield* all(setSlot, { tenant, account, slot: "latest-seen", address: place.address, at: now });
}

const readSlot = statement<{ tenant: string; account: string; slot: string }>()((k, p) =>
  k
    .selectFrom("slots")
    .select(["address", "at"])
    .where("tenant_id", "=", p.tenant)
    .where("account", "=", p.account)
    .where("slot", "=", p.slot),
);

/** What stands in a slot, inside a command. */
export function* slotNow(tenant: string, account: string, slot: SlotName): Program<string | null> {
  return (yield* first(readSlot, { tenant, account, slot }))?.address ?? null;
}

/** Both slots of an account; null where nothing stands. */
export async function readSlots(
  db: Database,
  tenant: string,
  account: string,
): Promise<Record<SlotName, string | null>> {
  const [active, seen] = await Promise.all(
    slotNames.map((slot) => db.read(readSlot, { tenant, account, slot })),
  );
  return { "last-active": active?.[0]?.address ?? null, "latest-seen": seen?.[0]?.address ?? null };
}

export interface SlotRecord {
  account: string;
  slot: SlotName;
  address: string;
  at: number;
}

const allSlots = statement<{ tenant: string }>()((k, p) =>
  k
    .selectFrom("slots")
    .select(["account", "slot", "address", "at"])
    .where("tenant_id", "=", p.tenant)
    .orderBy("account")
    .orderBy("slot"),
);

/** Every slot of every account. */
export async function listSlots(db: Database, tenant: string): Promise<SlotRecord[]> {
  const rows = await db.read(allSlots, { tenant });
  return rows.map((row) => ({ ...row, slot: row.slot as SlotName }));
}

const removeSlot = statement<{ tenant: string; account: string; slot: string }>()((k, p) =>
  k
    .deleteFrom("slots")
    .where("tenant_id", "=", p.tenant)
    .where("account", "=", p.account)
    .where("slot", "=", p.slot)
    .returning("address"),
);

/**
 * Takes a place out of a slot; the other slot stays as it is. The next message fills it again.
 * @returns what stood there, or null
 */
export const clearSlot = command(
  "turns.clear-slot",
  function* (input: { tenant: string; account: string; slot: SlotName }) {
    return (yield* first(removeSlot, input))?.address ?? null;
  },
);
