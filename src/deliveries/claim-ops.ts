import { sql } from "kysely";
import { all, command, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";

export interface ClaimOpsInput {
  tenant: string;
  /** The boot id of the node that claims. */
  owner: string;
  channel: string;
  limit: number;
  /**
   * The ops that the owner has in hand, after a claim or a settlement whose answer was lost. Others that the store
   * counts as the owner's are given back first: what became of them is unclear. Null in ordinary times.
   */
  inHand: string[] | null;
}

export interface ClaimedOp {
  id: string;
  delivery: string;
  address: string;
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
  /** Of an edit or delete without a target: the op that should have made the post. */
  creator: { id: string; state: string; text: string } | null;
  /** A preview that is to be taken away again before it was posted. */
  withdrawn: boolean;
  conversationKind: string;
}

interface ClaimParameters {
  tenant: string;
  owner: string;
  channel: string;
  limit: number;
  now: number;
}

/**
 * Ops of one address go in order: only the first unsettled one of an address is ever claimed.
 *
 * Tried and dropped: `where id in (select ... limit n for update skip locked)`. Postgres may execute such a subquery
 * once for each row, and then claims far more than `n`.
 */
const claim = statement<ClaimParameters>()((k, p, dialect) =>
  k
    .with(
      (cte) => cte("due").materialized(),
      (q) =>
        q
          .selectFrom("ops as o")
          .select("o.id")
          .where("o.tenant_id", "=", p.tenant)
          .where(sql<boolean>`o.state = 'pending'`)
          .where("o.next_at", "<=", p.now)
          .where("o.channel", "=", p.channel)
          .where(isHead)
          // A node that was taken for dead claims nothing more: its ops are given to others.
          .where(
            sql<boolean>`not exists (select 1 from nodes n
              where n.tenant_id = ${p.tenant} and n.boot_id = ${p.owner} and n.ended_at is not null)`,
          )
          .orderBy("o.next_at")
          .orderBy("o.id")
          .limit(p.limit)
          .$if(dialect === "postgres", (one) => one.forUpdate().skipLocked()),
    )
    .updateTable("ops")
    .set({
      state: sql.lit("sending"),
      owner: p.owner,
      fence: sql<number>`fence + 1`,
      attempts: sql<number>`attempts + 1`,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "in", (e) => e.selectFrom("due").select("due.id"))
    .returning(["id", "delivery_id", "address", "kind", "part", "text", "attempts", "fence", "ambiguous"]),
);

/** `notYet` says the same in nearly every case; an op that was reopened by hand may stand before one that is due. */
const isHead = sql<boolean>`not exists (select 1 from ops earlier
  where earlier.tenant_id = o.tenant_id and earlier.address = o.address and earlier.op_seq < o.op_seq
    and earlier.state in ('pending', 'sending'))`;

const giveBack = statement<{ tenant: string; owner: string; inHand: string; now: number }>()(
  (k, p, dialect) =>
    k
      .updateTable("ops")
      .set({
        state: sql.lit("pending"),
        ambiguous: sql.lit(1),
        owner: null,
        next_at: p.now,
        fence: sql<number>`fence + 1`,
      })
      .where("tenant_id", "=", p.tenant)
      .where("owner", "=", p.owner)
      .where(sql<boolean>`state = 'sending'`)
      .where(
        dialect === "sqlite"
          ? sql<boolean>`id not in (select value from json_each(${p.inHand}))`
          : sql<boolean>`id not in (select json_array_elements_text(${p.inHand}::json))`,
      ),
);

const touchDelivery = statement<{ tenant: string; id: string }>()((k, p) =>
  k
    .updateTable("deliveries")
    .set({ state: sql.lit("sending"), attempts: sql<number>`attempts + 1`, next_at: null })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    .returning(["run_id", "turn_id", "message_id"]),
);

const receiptOf = statement<{ tenant: string; delivery: string; part: number }>()((k, p) =>
  k
    .selectFrom("receipts")
    .select("platform_id")
    .where("tenant_id", "=", p.tenant)
    .where("delivery_id", "=", p.delivery)
    .where("part", "=", p.part),
);

const opsOfPart = statement<{ tenant: string; delivery: string; part: number }>()((k, p) =>
  k
    .selectFrom("ops")
    .select(["id", "kind", "state", "text"])
    .where("tenant_id", "=", p.tenant)
    .where("delivery_id", "=", p.delivery)
    .where("part", "=", p.part)
    .orderBy("op_seq"),
);

/** A thread is as wide as its conversation; the thread's own row may be older than what was said of that since. */
const kindOf = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .selectFrom("conversations as c")
    .leftJoin("conversations as parent", (join) =>
      join.onRef("parent.tenant_id", "=", "c.tenant_id").onRef("parent.address", "=", "c.parent"),
    )
    .select(
      sql<string>`case when coalesce(parent.kind, 'unknown') = 'unknown' then c.kind else parent.kind end`.as(
        "kind",
      ),
    )
    .where("c.tenant_id", "=", p.tenant)
    .where("c.address", "=", p.address),
);

/** Takes ops of a channel that are due, one an address, under a fence of their own. */
export const claimOps = command("deliveries.claim-ops", function* (input: ClaimOpsInput, env) {
  const { tenant, owner, channel, limit, inHand } = input;
  if (inHand !== null) {
    yield* all(giveBack, { tenant, owner, inHand: JSON.stringify(inHand), now: env.now });
  }
  const claimed: ClaimedOp[] = [];
  for (const row of yield* all(claim, { tenant, owner, channel, limit, now: env.now })) {
    const { id, delivery_id, address, part, text, fence } = row;
    const kind = row.kind as ClaimedOp["kind"];
    const delivery = yield* first(touchDelivery, { tenant, id: delivery_id });
    const isPreview = kind === "create" && delivery?.message_id === null;
    const place = yield* first(kindOf, { tenant, address });
    claimed.push({
      id,
      delivery: delivery_id,
      address,
      kind,
      part,
      text,
      attempt: row.attempts,
      fence,
      ambiguous: row.ambiguous === 1,
      run: delivery?.run_id ?? null,
      turn: delivery?.turn_id ?? null,
      ...(yield* postOf(tenant, delivery_id, part, kind, isPreview)),
      conversationKind: place?.kind ?? "unknown",
    });
  }
  return claimed;
});

/** What is known of the post that an op makes or is about. */
function* postOf(
  tenant: string,
  delivery: string,
  part: number,
  kind: ClaimedOp["kind"],
  isPreview: boolean,
): Program<Pick<ClaimedOp, "target" | "creator" | "withdrawn">> {
  const receipt = yield* first(receiptOf, { tenant, delivery, part });
  const target = receipt?.platform_id ?? null;
  if (kind === "create" ? !isPreview : target !== null) return { target, creator: null, withdrawn: false };
  const ops = yield* all(opsOfPart, { tenant, delivery, part });
  const creator = kind === "create" ? undefined : ops.find((op) => op.kind === "create");
  const withdrawn = kind === "create" && ops.some((op) => op.kind === "delete");
  return {
    target,
    creator: creator ? { id: creator.id, state: creator.state, text: creator.text } : null,
    withdrawn,
  };
}

/**
 * In how many milliseconds the next op of a channel is due, by the clock of the store; negative: it is overdue. What
 * waits behind another op is not counted: that one's settlement calls it.
 */
export const readNextDue = statement<{ tenant: string; channel: string; now: number }>()((k, p, dialect) =>
  k
    .selectFrom("ops as o")
    .select(
      dialect === "sqlite"
        ? sql<number>`o.next_at - ${p.now}`.as("in_ms")
        : sql<number>`o.next_at - floor(extract(epoch from clock_timestamp()) * 1000)::bigint`.as("in_ms"),
    )
    .where("o.tenant_id", "=", p.tenant)
    .where(sql<boolean>`o.state = 'pending'`)
    .where("o.channel", "=", p.channel)
    .where(isHead)
    .orderBy("o.next_at")
    .limit(sql.lit(1)),
);
