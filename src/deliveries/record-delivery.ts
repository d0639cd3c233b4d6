import { all, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { joinLine } from "./op-order.ts";
import { postMessage, type Place } from "./post-message.ts";
import { refreshDelivery } from "./refresh-delivery.ts";
import type { DeliveryRule, Rejected } from "./sender.ts";

export type DeliveryKind = "final" | "say" | "send" | "notice" | "reply" | "schedule";

export interface NewDelivery {
  tenant: string;
  id: string;
  kind: DeliveryKind;
  run: string | null;
  turn: string | null;
  place: Place;
  rule: DeliveryRule;
  rejected: readonly Rejected[];
  message: { id: string; text: string; parts: string; notice: { key: string; values: string } | null };
  /**
   * `posted`: the post is the message row itself (web), so its receipt is written here. `outbox`: ops go to the
   * platform. `blocked`: the destination is closed; the ops are kept for a retry by hand.
   */
  mode: "posted" | "outbox" | "blocked";
  reason?: string | null;
  /** The text in the platform's pieces, each with the id of its op. Empty for `posted`. */
  pieces: { op: string; text: string }[];
  /** A preview that is already on its way: its post is edited into the first piece. */
  preview: boolean;
  /** The schedule that it comes from. */
  schedule?: string | null;
  /** It was held for want of an address: its row stands, and is filled in. */
  completes?: boolean;
}

const insertDelivery = statement<{
  tenant: string;
  id: string;
  kind: string;
  run: string | null;
  turn: string | null;
  address: string;
  state: string;
  rule: string;
  rejected: string;
  reason: string | null;
  message: string | null;
  schedule: string | null;
  at: number;
  settled: number | null;
}>()((k, p) =>
  k.insertInto("deliveries").values({
    tenant_id: p.tenant,
    id: p.id,
    kind: p.kind,
    run_id: p.run,
    turn_id: p.turn,
    address: p.address,
    state: p.state,
    rule: p.rule,
    rejected_json: p.rejected,
    reason: p.reason,
    message_id: p.message,
    schedule_id: p.schedule,
    attempts: 0,
    created_at: p.at,
    settled_at: p.settled,
  }),
);

const completePreview = statement<{ tenant: string; id: string; message: string; kind: string }>()((k, p) =>
  k
    .updateTable("deliveries")
    .set({ message_id: p.message, kind: p.kind })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

const completeHeld = statement<{
  tenant: string;
  id: string;
  address: string;
  state: string;
  rule: string;
  reason: string | null;
  message: string;
  settled: number | null;
}>()((k, p) =>
  k
    .updateTable("deliveries")
    .set({
      address: p.address,
      state: p.state,
      rule: p.rule,
      reason: p.reason,
      message_id: p.message,
      settled_at: p.settled,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

const insertReceipt = statement<{
  tenant: string;
  delivery: string;
  part: number;
  platformId: string;
  address: string;
  permalink: string | null;
  at: number;
}>()((k, p) =>
  k
    .insertInto("receipts")
    .values({
      tenant_id: p.tenant,
      delivery_id: p.delivery,
      part: p.part,
      platform_id: p.platformId,
      address: p.address,
      permalink: p.permalink,
      at: p.at,
    })
    .onConflict((c) =>
      c
        .columns(["tenant_id", "delivery_id", "part"])
        .doUpdateSet({ platform_id: p.platformId, permalink: p.permalink, at: p.at }),
    ),
);

const insertOp = statement<{
  tenant: string;
  id: string;
  delivery: string;
  address: string;
  channel: string;
  seq: number;
  kind: string;
  part: number;
  text: string;
  state: string;
  error: string | null;
  nextAt: number;
  at: number;
}>()((k, p) =>
  k.insertInto("ops").values({
    tenant_id: p.tenant,
    id: p.id,
    delivery_id: p.delivery,
    address: p.address,
    channel: p.channel,
    op_seq: p.seq,
    kind: p.kind,
    part: p.part,
    text: p.text,
    state: p.state,
    attempts: 0,
    fence: 0,
    ambiguous: 0,
    next_at: p.nextAt,
    error: p.error,
    created_at: p.at,
  }),
);

export interface NewOp {
  tenant: string;
  id: string;
  delivery: string;
  place: Pick<Place, "address" | "channel">;
  kind: "create" | "edit" | "delete";
  part: number;
  text: string;
  state: "pending" | "blocked";
  reason: string | null;
}

/** Adds an op behind all others of its address. Part of a larger command. */
export function* addOp(op: NewOp, now: number): Program<void> {
  const { seq, dueAt } = yield* joinLine(op.tenant, op.place.address, now);
  yield* all(insertOp, {
    tenant: op.tenant,
    id: op.id,
    delivery: op.delivery,
    address: op.place.address,
    channel: op.place.channel,
    seq,
    kind: op.kind,
    part: op.part,
    text: op.text,
    state: op.state,
    error: op.reason,
    nextAt: dueAt,
    at: now,
  });
}

/** Stores what proves that a piece was posted. Part of a larger command. */
export function* storeReceipt(
  receipt: {
    tenant: string;
    delivery: string;
    part: number;
    platformId: string;
    address: string;
    permalink: string | null;
  },
  now: number,
): Program<void> {
  yield* all(insertReceipt, { ...receipt, at: now });
}

/** Opens a delivery whose text is not known yet: the post that is finished in place. Part of a larger command. */
export function* recordPreview(
  preview: {
    tenant: string;
    id: string;
    op: string;
    run: string;
    turn: string;
    place: Place;
    rule: DeliveryRule;
    text: string;
  },
  now: number,
): Program<void> {
  const { tenant, id, run, turn, place, rule } = preview;
  yield* all(insertDelivery, {
    tenant,
    id,
    kind: "final",
    run,
    turn,
    address: place.address,
    state: "pending",
    rule,
    rejected: "[]",
    reason: null,
    message: null,
    schedule: null,
    at: now,
    settled: null,
  });
  const op = {
    tenant,
    id: preview.op,
    delivery: id,
    place,
    kind: "create",
    part: 0,
    text: preview.text,
  } as const;
  yield* addOp({ ...op, state: "pending", reason: null }, now);
}

/**
 * Records one logical message to one address: the message, the delivery with the rule that chose its address, and the
 * receipt (web) or the ops (elsewhere). Part of a larger command.
 */
export function* recordDelivery(delivery: NewDelivery, now: number): Program<{ postSeq: number }> {
  const { tenant, id, place, message, mode } = delivery;
  const posted = yield* postMessage(
    {
      tenant,
      id: message.id,
      place,
      role: "assistant",
      text: message.text,
      parts: message.parts,
      notice: message.notice,
      turn: delivery.turn,
      run: delivery.run,
      delivery: id,
      platformId: null,
      sender: null,
    },
    now,
  );
  yield* recordRow(delivery, now);
  if (mode === "posted") {
    const receipt = {
      tenant,
      delivery: id,
      part: 0,
      platformId: message.id,
      address: place.address,
      permalink: null,
    };
    yield* storeReceipt(receipt, now);
    return posted;
  }
  yield* recordPieces(delivery, mode, now);
  // A preview's delivery has a state already, from its own op; the answer reopens or blocks it.
  if (delivery.preview) yield* refreshDelivery(tenant, id, now);
  return posted;
}

function* recordRow(delivery: NewDelivery, now: number): Program<void> {
  const { tenant, id, place, message, mode } = delivery;
  if (delivery.preview) {
    yield* all(completePreview, { tenant, id, message: message.id, kind: delivery.kind });
    return;
  }
  const row = {
    tenant,
    id,
    address: place.address,
    state: mode === "posted" ? "delivered" : mode === "blocked" ? "blocked" : "pending",
    rule: delivery.rule,
    reason: delivery.reason ?? null,
    message: message.id,
    settled: mode === "outbox" ? null : now,
  };
  if (delivery.completes === true) {
    yield* all(completeHeld, row);
    return;
  }
  yield* all(insertDelivery, {
    ...row,
    kind: delivery.kind,
    run: delivery.run,
    turn: delivery.turn,
    rejected: JSON.stringify(delivery.rejected),
    schedule: delivery.schedule ?? null,
    at: now,
  });
}

function* recordPieces(delivery: NewDelivery, mode: "outbox" | "blocked", now: number): Program<void> {
  const { tenant, id, place, preview } = delivery;
  const state = mode === "blocked" ? "blocked" : "pending";
  for (const [part, { op, text }] of delivery.pieces.entries()) {
    const kind = preview && part === 0 ? "edit" : "create";
    const reason = delivery.reason ?? null;
    yield* addOp({ tenant, id: op, delivery: id, place, kind, part, text, state, reason }, now);
  }
}
