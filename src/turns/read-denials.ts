import type { Database } from "../db/database.ts";

/** Somebody who was turned away: one record for each sender, place and reason. Times are milliseconds since 1970. */
export interface DenialRecord {
  address: string;
  sender: string;
  name: string | null;
  reason: string;
  times: number;
  firstAt: number;
  lastAt: number;
}

export interface DenialFilter {
  /** Only those before this one in the order of the list (the newest first). */
  before?: { at: number; key: readonly [address: string, sender: string, reason: string] };
  limit: number;
}

/** Denials, the latest first. */
export async function listDenials(
  db: Database,
  tenant: string,
  filter: DenialFilter,
): Promise<DenialRecord[]> {
  const rows = await db.query((k) => {
    let q = k.selectFrom("denials").selectAll().where("tenant_id", "=", tenant);
    if (filter.before) {
      const { at, key } = filter.before;
      const [address, sender, reason] = key;
      q = q.where((e) =>
        e.or([
          e("last_at", "<", at),
          e.and([
            e("last_at", "=", at),
            e.or([
              e("address", "<", address),
              e.and([e("address", "=", address), e("sender", "<", sender)]),
              e.and([e("address", "=", address), e("sender", "=", sender), e("reason", "<", reason)]),
            ]),
          ]),
        ]),
      );
    }
    return q
      .orderBy("last_at", "desc")
      .orderBy("address", "desc")
      .orderBy("sender", "desc")
      .orderBy("reason", "desc")
      .limit(filter.limit);
  });
  return rows.map((row) => ({
    address: row.address,
    sender: row.sender,
    name: row.name,
    reason: row.reason,
    times: row.times,
    firstAt: row.first_at,
    lastAt: row.last_at,
  }));
}
