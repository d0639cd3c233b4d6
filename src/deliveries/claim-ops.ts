import { sql } from "kysely";
import { all, command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";

export interface ClaimOpsInput {
  tenant: string;
  owner: string;
  /** Channels that this node can send to. */
  channels: string[];
  limit: number;
}

export interface ClaimedOp {
  id: string;
  delivery: string;
  address: string;
  channel: string;
  kind: "create" | "edit" | "delete";
  part: number;
  text: string;
  attempt: number;
  fence: number;
  /** An earlier attempt ended in a way that leaves open what the platform did. */
  ambiguous: boolean;
  run: string | null;
  turn: string | null;
  /** The platform's id of the post that this part has, if it has one. */
  target: string | null;
  conversationKind: string;
}

/** Ops of one address go in order: only the first unsettled one of an address is ever claimed. */
const claim = statement<{ tenant: string; owner: string; channels: string; limit: number; now: number }>()(
  (k, p, dialect) =>
    k
      .updateTable("ops")
      .set({
        state: sql.lit("sending"),
        owner: p.owner,
        fence: sql<number>`fence + 1`,
        attempts: sql<number>`attempts + 1`,
      })
      .where("tenant_id", "=", p.tenant)
      .where("id", "in", (e) =>
        e
          .selectFrom("ops as o")
          .select("o.id")
          .where("o.tenant_id", "=", p.tenant)
          .where(sql<boolean>`o.state = 'pending'`)
          .where("o.next_at", "<=", p.now)
          .where(
            dialect === "sqlite"
              ? sql<boolean>`o.channel in (select value from json_each(${p.channels}))`
              : sql<boolean>`o.channel in (select json_array_elements_text(${p.channels}::json))`,
          )
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom("ops as earlier")
                  .select("earlier.id")
                  .where("earlier.tenant_id", "=", p.tenant)
                  .whereRef("earlier.address", "=", "o.address")
                  .whereRef("earlier.op_seq", "<", "o.op_seq")
                  .where(sql<boolean>`earlier.state in ('pending', 'sending')`),
              ),
            ),
          )
          .orderBy("o.next_at")
          .orderBy("o.id")
          .limit(p.limit)
          .$if(dialect === "postgres", (q) => q.forUpdate().skipLocked()),
      )
      .returning([
        "id",
        "delivery_id",
        "address",
        "channel",
        "kind",
        "part",
        "text",
        "attempts",
        "fence",
        "ambiguous",
      ]),
);

const touchDelivery = statement<{ tenant: string; id: string }>()((k, p) =>
  k
    .updateTable("deliveries")
    .set({ state: sql.lit("sending"), attempts: sql<number>`attempts + 1`, next_at: null })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    .returning(["run_id", "turn_id"]),
);

const receiptOf = statement<{ tenant: string; delivery: string; part: number }>()((k, p) =>
  k
    .selectFrom("receipts")
    .select("platform_id")
    .where("tenant_id", "=", p.tenant)
    .where("delivery_id", "=", p.delivery)
    .where("part", "=", p.part),
);

const kindOf = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .selectFrom("conversations")
    .select("kind")
    .where("tenant_id", "=", p.tenant)
    .where("address", "=", p.address),
);

/** Takes ops that are due, one an address, under a fence of their own. */
export const claimOps = command("deliveries.claim-ops", function* (input: ClaimOpsInput, env) {
  const rows = yield* all(claim, { ...input, channels: JSON.stringify(input.channels), now: env.now });
  const claimed: ClaimedOp[] = [];
  for (const row of rows) {
    const delivery = yield* first(touchDelivery, { tenant: input.tenant, id: row.delivery_id });
    const receipt = yield* first(receiptOf, {
      tenant: input.tenant,
      delivery: row.delivery_id,
      part: row.part,
    });
    const place = yield* first(kindOf, { tenant: input.tenant, address: row.address });
    claimed.push({
      id: row.id,
      delivery: row.delivery_id,
      address: row.address,
      channel: row.channel,
      kind: row.kind as ClaimedOp["kind"],
      part: row.part,
      text: row.text,
      attempt: row.attempts,
      fence: row.fence,
      ambiguous: row.ambiguous === 1,
      run: delivery?.run_id ?? null,
      turn: delivery?.turn_id ?? null,
      target: receipt?.platform_id ?? null,
      conversationKind: place?.kind ?? "unknown",
    });
  }
  return claimed;
});

const nextDue = statement<{ tenant: string }>()((k, p) =>
  k
    .selectFrom("ops")
    .select("next_at")
    .where("tenant_id", "=", p.tenant)
    .where(sql<boolean>`state = 'pending'`)
    .orderBy("next_at")
    .limit(sql.lit(1)),
);

/** When the next op is due, as milliseconds since 1970. */
export { nextDue as readNextDue };
