import { sql } from "kysely";
import { statement } from "../db/statement.ts";
import type { Database } from "../db/database.ts";
import type { Tables } from "../db/tables.ts";
import { notYet } from "./op-order.ts";
import type { DeliveryRule, DeliveryState, Rejected } from "./sender.ts";

/** A delivery with what was sent for it and what proves it. Times are milliseconds since 1970. */
export interface DeliveryRecord {
  id: string;
  kind: string;
  run: string | null;
  turn: string | null;
  address: string;
  state: DeliveryState;
  rule: DeliveryRule;
  rejected: Rejected[];
  /** Why it is not delivered, in words for operators. */
  reason: string | null;
  message: string | null;
  /** How it begins: 160 characters at most; null where nothing was to be said yet. */
  text: string | null;
  /** The schedule that made it. */
  schedule: string | null;
  attempts: number;
  receipts: ReceiptRecord[];
  ops: OpRecord[];
  createdAt: number;
  settledAt: number | null;
  nextAt: number | null;
}

export interface ReceiptRecord {
  part: number;
  platformId: string;
  address: string;
  permalink: string | null;
  at: number;
}

export interface OpRecord {
  id: string;
  kind: string;
  part: number;
  state: string;
  attempts: number;
  error: string | null;
  /** Null while it waits behind another op of its address. */
  nextAt: number | null;
  createdAt: number;
}

export interface DeliveryFilter {
  run?: string;
  /** Only what was posted for this turn without a run. */
  replyTo?: string;
  states?: readonly string[];
  address?: string;
  /** Only deliveries before this one in the order of the list (newest first). */
  before?: { createdAt: number; id: string };
  limit: number;
}

/** Deliveries, newest first, with their ops and receipts. */
export async function listDeliveries(
  db: Database,
  tenant: string,
  filter: DeliveryFilter,
): Promise<DeliveryRecord[]> {
  const rows = await db.query((k) => {
    let q = k.selectFrom("deliveries").selectAll().where("tenant_id", "=", tenant);
    if (filter.run !== undefined) q = q.where("run_id", "=", filter.run);
    if (filter.replyTo !== undefined) q = q.where("turn_id", "=", filter.replyTo).where("run_id", "is", null);
    if (filter.states?.length) q = q.where("state", "in", filter.states);
    if (filter.address !== undefined) q = q.where("address", "=", filter.address);
    if (filter.before) {
      const { createdAt, id } = filter.before;
      q = q.where((e) =>
        e.or([e("created_at", "<", createdAt), e.and([e("created_at", "=", createdAt), e("id", "<", id)])]),
      );
    }
    return q.orderBy("created_at", "desc").orderBy("id", "desc").limit(filter.limit);
  });
  return complete(db, tenant, rows);
}

const byId = statement<{ tenant: string; id: string }>()((k, p) =>
  k.selectFrom("deliveries").selectAll().where("tenant_id", "=", p.tenant).where("id", "=", p.id),
);

export async function readDelivery(db: Database, tenant: string, id: string): Promise<DeliveryRecord | null> {
  const [delivery] = await complete(db, tenant, await db.read(byId, { tenant, id }));
  return delivery ?? null;
}

/** Adds ops and receipts: two reads for a whole page. */
async function complete(
  db: Database,
  tenant: string,
  rows: readonly Tables["deliveries"][],
): Promise<DeliveryRecord[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const messages = rows.flatMap((row) => row.message_id ?? []);
  const [ops, receipts, said] = await Promise.all([
    db.query((k) =>
      k
        .selectFrom("ops")
        .selectAll()
        .where("tenant_id", "=", tenant)
        .where("delivery_id", "in", ids)
        .orderBy("op_seq"),
    ),
    db.query((k) =>
      k
        .selectFrom("receipts")
        .selectAll()
        .where("tenant_id", "=", tenant)
        .where("delivery_id", "in", ids)
        .orderBy("part"),
    ),
    messages.length === 0
      ? []
      : db.query((k) =>
          k
            .selectFrom("messages")
            .select(["id", sql<string>`substr(text, 1, ${sql.lit(EXCERPT)})`.as("text")])
            .where("tenant_id", "=", tenant)
            .where("id", "in", messages),
        ),
  ]);
  const textOf = new Map(said.map(({ id, text }) => [id, text]));
  const opsOf = Map.groupBy(ops, (op) => op.delivery_id);
  const receiptsOf = Map.groupBy(receipts, (receipt) => receipt.delivery_id);
  return rows.map((row) => {
    const own = opsOf.get(row.id) ?? [];
    const op = own.findLast(({ kind, part }) => part === 0 && kind !== "delete");
    const text = textOf.get(row.message_id ?? "") ?? op?.text.slice(0, EXCERPT) ?? null;
    return toDelivery(row, text, own, receiptsOf.get(row.id) ?? []);
  });
}

/** Characters of a text that lists show. */
const EXCERPT = 160;

function toDelivery(
  row: Tables["deliveries"],
  text: string | null,
  ops: readonly Tables["ops"][],
  receipts: readonly Tables["receipts"][],
): DeliveryRecord {
  return {
    id: row.id,
    kind: row.kind,
    run: row.run_id,
    turn: row.turn_id,
    address: row.address,
    state: row.state as DeliveryState,
    rule: row.rule as DeliveryRule,
    rejected: JSON.parse(row.rejected_json) as Rejected[],
    reason: row.reason,
    message: row.message_id,
    text,
    schedule: row.schedule_id,
    attempts: row.attempts,
    receipts: receipts.map(({ part, platform_id, address, permalink, at }) => ({
      part,
      platformId: platform_id,
      address,
      permalink,
      at,
    })),
    ops: ops.map(({ id, kind, part, state, attempts, error, next_at, created_at }) => ({
      id,
      kind,
      part,
      state,
      attempts,
      error,
      nextAt: next_at === notYet ? null : next_at,
      createdAt: created_at,
    })),
    createdAt: row.created_at,
    settledAt: row.settled_at,
    nextAt: row.next_at,
  };
}

const byReceipt = statement<{ tenant: string; platformId: string }>()((k, p) =>
  k
    .selectFrom("receipts")
    .select(["delivery_id", "address"])
    .where("tenant_id", "=", p.tenant)
    .where("platform_id", "=", p.platformId)
    .orderBy("at", "desc")
    .limit(sql.lit(20)),
);

const byPermalink = statement<{ tenant: string; permalink: string }>()((k, p) =>
  k
    .selectFrom("receipts")
    .select("delivery_id")
    .where("tenant_id", "=", p.tenant)
    .where("permalink", "=", p.permalink)
    .limit(sql.lit(1)),
);

const byOp = statement<{ tenant: string; op: string }>()((k, p) =>
  k.selectFrom("ops").select("delivery_id").where("tenant_id", "=", p.tenant).where("id", "=", p.op),
);

/** The delivery to which an op belongs. */
export async function findDeliveryOfOp(db: Database, tenant: string, op: string): Promise<string | null> {
  const [row] = await db.read(byOp, { tenant, op });
  return row?.delivery_id ?? null;
}

const receiptOf = statement<{ tenant: string; delivery: string; part: number }>()((k, p) =>
  k
    .selectFrom("receipts")
    .select("platform_id")
    .where("tenant_id", "=", p.tenant)
    .where("delivery_id", "=", p.delivery)
    .where("part", "=", p.part),
);

/** The platform's id of a piece of a delivery; null while it is not posted. */
export async function readReceipt(
  db: Database,
  tenant: string,
  delivery: string,
  part: number,
): Promise<string | null> {
  const [row] = await db.read(receiptOf, { tenant, delivery, part });
  return row?.platform_id ?? null;
}

/** The delivery that made a post, by the platform's link to it. */
export async function findDeliveryOfPermalink(
  db: Database,
  tenant: string,
  permalink: string,
): Promise<string | null> {
  const [row] = await db.read(byPermalink, { tenant, permalink });
  return row?.delivery_id ?? null;
}

/** Deliveries that made a post with this platform id; ids of platforms repeat, so an address tells them apart. */
export async function findDeliveriesOfPost(
  db: Database,
  tenant: string,
  platformId: string,
  address?: string,
): Promise<string[]> {
  const rows = await db.read(byReceipt, { tenant, platformId });
  return rows.filter((row) => address === undefined || row.address === address).map((row) => row.delivery_id);
}
