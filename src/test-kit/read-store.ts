import type { Database } from "../db/database.ts";
import type { DeliveryRule, DeliveryState, Rejected } from "../deliveries/sender.ts";
import type { MessagePart } from "../ledger/run.ts";

/** What was said in a place: by a person (`user`), or by an agent or the gateway (`assistant`). */
export interface TestMessage {
  id: string;
  address: string;
  /** Its place in the order of what was said at this address. */
  seq: number;
  role: "user" | "assistant";
  text: string;
  parts: MessagePart[];
  turn: string | null;
  run: string | null;
  delivery: string | null;
  sender: { id: string; name: string | null } | null;
  /** The catalogue key, where it is a notice of the gateway. */
  notice: string | null;
  /** Milliseconds since 1970. */
  at: number;
}

export interface TestDelivery {
  id: string;
  kind: "final" | "say" | "send" | "notice" | "reply" | "schedule";
  run: string | null;
  turn: string | null;
  address: string;
  state: DeliveryState;
  /** Which rule chose its address, and what was refused before. */
  rule: DeliveryRule;
  rejected: Rejected[];
  reason: string | null;
  message: string | null;
  attempts: number;
  /** When it is attempted again, in milliseconds since 1970; null where nothing is due. */
  nextAt: number | null;
  /** What proves that it was posted; one for each piece of a long text. */
  receipts: { part: number; platformId: string; permalink: string | null }[];
  /** What goes to the platform, in order. None on the web, whose posts are rows of the store. */
  ops: {
    kind: "create" | "edit" | "delete";
    part: number;
    state: string;
    attempts: number;
    error: string | null;
  }[];
}

/** One event of a run, as its timeline shows it. */
export interface TestRunEvent {
  seq: number;
  kind: string;
  data: Record<string, unknown> | null;
  at: number;
}

interface PartsJson {
  parts: MessagePart[];
}

/** Messages in the order in which they were said: over several places by time, in one place by its own order. */
export async function readMessages(
  db: Database,
  tenant: string,
  filter: { address?: string; turn?: string },
) {
  const rows = await db.query((k) => {
    let q = k.selectFrom("messages").selectAll().where("tenant_id", "=", tenant);
    if (filter.address !== undefined) q = q.where("address", "=", filter.address);
    if (filter.turn !== undefined) q = q.where("turn_id", "=", filter.turn);
    return q.orderBy("at").orderBy("address").orderBy("post_seq");
  });
  const messages = rows.map((row): TestMessage => ({
    id: row.id,
    address: row.address,
    seq: row.post_seq,
    role: row.role as TestMessage["role"],
    text: row.text,
    parts: (JSON.parse(row.parts_json) as PartsJson).parts,
    turn: row.turn_id,
    run: row.run_id,
    delivery: row.delivery_id,
    sender: row.sender_id === null ? null : { id: row.sender_id, name: row.sender_name },
    notice: row.notice_key,
    at: row.at,
  }));
  // Nodes on one store may differ in their time by a little; within a place only its own order counts.
  return filter.address === undefined ? messages : messages.toSorted((a, b) => a.seq - b.seq);
}

/** Deliveries, the oldest first. */
export async function readDeliveries(
  db: Database,
  tenant: string,
  filter: { id?: string; run?: string; turn?: string; address?: string },
): Promise<TestDelivery[]> {
  const rows = await db.query((k) => {
    let q = k.selectFrom("deliveries").selectAll().where("tenant_id", "=", tenant);
    if (filter.id !== undefined) q = q.where("id", "=", filter.id);
    if (filter.run !== undefined) q = q.where("run_id", "=", filter.run);
    if (filter.turn !== undefined) q = q.where("turn_id", "=", filter.turn);
    if (filter.address !== undefined) q = q.where("address", "=", filter.address);
    return q.orderBy("created_at").orderBy("id");
  });
  const proof = await readProof(
    db,
    tenant,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind as TestDelivery["kind"],
    run: row.run_id,
    turn: row.turn_id,
    address: row.address,
    state: row.state as DeliveryState,
    rule: row.rule as DeliveryRule,
    rejected: JSON.parse(row.rejected_json) as Rejected[],
    reason: row.reason,
    message: row.message_id,
    attempts: row.attempts,
    nextAt: row.next_at,
    receipts: proof.receipts.get(row.id) ?? [],
    ops: proof.ops.get(row.id) ?? [],
  }));
}

async function readProof(db: Database, tenant: string, deliveries: readonly string[]) {
  const [receipts, ops] = await Promise.all([
    db.query((k) =>
      k
        .selectFrom("receipts")
        .select(["delivery_id", "part", "platform_id", "permalink"])
        .where("tenant_id", "=", tenant)
        .where("delivery_id", "in", ["", ...deliveries])
        .orderBy("part"),
    ),
    db.query((k) =>
      k
        .selectFrom("ops")
        .select(["delivery_id", "kind", "part", "state", "attempts", "error"])
        .where("tenant_id", "=", tenant)
        .where("delivery_id", "in", ["", ...deliveries])
        .orderBy("op_seq"),
    ),
  ]);
  const proof = {
    receipts: new Map<string, TestDelivery["receipts"]>(),
    ops: new Map<string, TestDelivery["ops"]>(),
  };
  for (const { delivery_id, part, platform_id, permalink } of receipts) {
    push(proof.receipts, delivery_id, { part, platformId: platform_id, permalink });
  }
  for (const { delivery_id, kind, ...op } of ops) {
    push(proof.ops, delivery_id, { kind: kind as "create" | "edit" | "delete", ...op });
  }
  return proof;
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key) ?? [];
  list.push(item);
  lists.set(key, list);
}

export async function readEvents(db: Database, tenant: string, run: string): Promise<TestRunEvent[]> {
  const rows = await db.query((k) =>
    k
      .selectFrom("run_events")
      .select(["event_seq", "kind", "data_json", "at"])
      .where("tenant_id", "=", tenant)
      .where("run_id", "=", run)
      .orderBy("event_seq"),
  );
  return rows.map((row) => ({
    seq: row.event_seq,
    kind: row.kind,
    data: row.data_json === null ? null : (JSON.parse(row.data_json) as Record<string, unknown>),
    at: row.at,
  }));
}

/** Runs that have not ended, and deliveries that may still change by themselves. */
export async function countOpen(db: Database, tenant: string, turn?: string): Promise<number> {
  const runs = await db.query((k) => {
    const q = k
      .selectFrom("runs")
      .select("id")
      .where("tenant_id", "=", tenant)
      .where("state", "in", ["staged", "queued", "running", "waiting"]);
    return turn === undefined ? q : q.where("turn_id", "=", turn);
  });
  if (runs.length > 0) return runs.length;
  // Only afterwards: a run that has ended has left its delivery in the same commit.
  const deliveries = await db.query((k) => {
    const q = k
      .selectFrom("deliveries")
      .select("id")
      .where("tenant_id", "=", tenant)
      .where("state", "in", ["pending", "sending"]);
    return turn === undefined ? q : q.where("turn_id", "=", turn);
  });
  return deliveries.length;
}
