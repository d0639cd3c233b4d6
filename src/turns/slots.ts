import { all, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import type { Place } from "../deliveries/post-message.ts";

const setSlot = statement<{ tenant: string; account: string; slot: string; address: string; at: number }>()(
  (k, p) =>
    k
      .insertInto("slots")
      .values({ tenant_id: p.tenant, account: p.account, slot: p.slot, address: p.address, at: p.at })
      .onConflict((c) =>
        c.columns(["tenant_id", "account", "slot"]).doUpdateSet({ address: p.address, at: p.at }),
      ),
);

/**
 * Notes who spoke last, per channel account, for sends that belong to no turn. Nothing inside a turn reads it: that is
 * how a question asked in a DM came to be answered in public elsewhere.
 */
export function* noteSlots(tenant: string, place: Place, now: number): Program<void> {
  const account = `${place.channel}:${place.account}`;
  for (const slot of ["last-active", "latest-seen"]) {
    yield* all(setSlot, { tenant, account, slot, address: place.address, at: now });
  }
}

export const readSlot = statement<{ tenant: string; account: string; slot: string }>()((k, p) =>
  k
    .selectFrom("slots")
    .select(["address", "at"])
    .where("tenant_id", "=", p.tenant)
    .where("account", "=", p.account)
    .where("slot", "=", p.slot),
);
