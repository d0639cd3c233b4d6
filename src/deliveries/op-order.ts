import { sql } from "kysely";
import { all, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";

/**
 * Ops of one address go out in order, one at a time. Only the first unsettled op of an address has a time at which it
 * is due; those behind it stand at `notYet` and are called when it settles. So a claim looks at the heads of the lines
 * and never at the lines: with 10,000 ops behind one dead address it reads one row of them.
 *
 * Tried and dropped: every op due at once, and `not exists (an earlier one)` alone to find the heads. Each claim then
 * looked at every op that waits, and what waited looked as if it was due, so the outbox asked again and again.
 */
export const notYet = Number.MAX_SAFE_INTEGER;

const takeOpSeq = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .insertInto("op_counters")
    .values({ tenant_id: p.tenant, address: p.address, last_seq: sql.lit(1) })
    .onConflict((c) =>
      c.columns(["tenant_id", "address"]).doUpdateSet({ last_seq: sql<number>`op_counters.last_seq + 1` }),
    )
    .returning("last_seq"),
);

const firstInLine = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .selectFrom("ops")
    .select("id")
    .where("tenant_id", "=", p.tenant)
    .where("address", "=", p.address)
    .where(sql<boolean>`state in ('pending', 'sending')`)
    .orderBy("op_seq")
    .limit(sql.lit(1)),
);

/** Takes the next place in an address's line. Part of a larger command; whoever joins or calls holds the line's row. */
export function* joinLine(
  tenant: string,
  address: string,
  now: number,
): Program<{ seq: number; dueAt: number }> {
  const row = yield* first(takeOpSeq, { tenant, address });
  const head = yield* first(firstInLine, { tenant, address });
  return { seq: row?.last_seq ?? 1, dueAt: head ? notYet : now };
}

const holdLine = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .updateTable("op_counters")
    .set({ last_seq: sql<number>`last_seq` })
    .where("tenant_id", "=", p.tenant)
    .where("address", "=", p.address),
);

const call = statement<{ tenant: string; address: string; now: number }>()((k, p) =>
  k
    .updateTable("ops")
    .set({ next_at: p.now })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", (e) =>
      e
        .selectFrom("ops as o")
        .select("o.id")
        .where("o.tenant_id", "=", p.tenant)
        .where("o.address", "=", p.address)
        .where(sql<boolean>`o.state in ('pending', 'sending')`)
        .orderBy("o.op_seq")
        .limit(sql.lit(1)),
    )
    .where(sql<boolean>`state = 'pending'`)
    .where("next_at", "=", sql.lit(notYet)),
);

/** Makes the first unsettled op of an address due, if it was not. Part of a larger command, after an op has settled. */
export function* callNext(tenant: string, address: string, now: number): Program<void> {
  // On Postgres one that joins at this moment either sees the settled op, or is seen here.
  yield* all(holdLine, { tenant, address });
  yield* all(call, { tenant, address, now });
}
