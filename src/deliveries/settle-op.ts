import { sql } from "kysely";
import { all, command, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { storeReceipt } from "./record-delivery.ts";
import type { DeliveryState } from "./sender.ts";

/**
 * How an op ended or goes on.
 *
 *   pending -> sending -> done
 *      ^          |-----> pending (retry, later)
 *      |          |-----> unknown | blocked | dead
 *      +---- by hand ----+
 */
export type OpSettlement =
  | { kind: "done"; platformId: string | null; permalink: string | null }
  | { kind: "retry"; inMs: number; reason: string; ambiguous: boolean }
  | { kind: "unknown" | "blocked" | "dead"; reason: string };

export interface SettleInput {
  tenant: string;
  op: string;
  owner: string;
  fence: number;
  settlement: OpSettlement;
}

const settle = statement<{
  tenant: string;
  op: string;
  owner: string;
  fence: number;
  state: string;
  error: string | null;
  nextAt: number;
  ambiguous: number;
}>()((k, p) =>
  k
    .updateTable("ops")
    .set({ state: p.state, error: p.error, next_at: p.nextAt, ambiguous: p.ambiguous, owner: null })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.op)
    .where("owner", "=", p.owner)
    .where("fence", "=", p.fence)
    .where(sql<boolean>`state = 'sending'`)
    .returning(["delivery_id", "address", "part", "kind"]),
);

const blockRest = statement<{ tenant: string; delivery: string; state: string; reason: string }>()((k, p) =>
  k
    .updateTable("ops")
    .set({ state: p.state, error: p.reason })
    .where("tenant_id", "=", p.tenant)
    .where("delivery_id", "=", p.delivery)
    .where(sql<boolean>`state = 'pending'`),
);

const opStates = statement<{ tenant: string; delivery: string }>()((k, p) =>
  k
    .selectFrom("ops")
    .select(["state", "next_at", "error", "attempts"])
    .where("tenant_id", "=", p.tenant)
    .where("delivery_id", "=", p.delivery)
    .orderBy("op_seq"),
);

const setDelivery = statement<{
  tenant: string;
  id: string;
  state: string;
  reason: string | null;
  settledAt: number | null;
  nextAt: number | null;
}>()((k, p) =>
  k
    .updateTable("deliveries")
    .set({ state: p.state, reason: p.reason, settled_at: p.settledAt, next_at: p.nextAt })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

const messageOf = statement<{ tenant: string; id: string }>()((k, p) =>
  k.selectFrom("deliveries").select("message_id").where("tenant_id", "=", p.tenant).where("id", "=", p.id),
);

const notePosted = statement<{ tenant: string; run: string; address: string }>()((k, p) =>
  k
    .updateTable("runs")
    .set({ posted_in: p.address })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run),
);

interface OpState {
  state: string;
  next_at: number;
  error: string | null;
  attempts: number;
}

/** The worst of its ops is the state of a delivery; `finished` is false for a preview whose answer is not there yet. */
export function stateOfDelivery(ops: readonly OpState[], finished: boolean): DeliveryState {
  for (const worst of ["dead", "unknown", "blocked", "held"] as const) {
    if (ops.some((op) => op.state === worst)) return worst;
  }
  if (ops.some((op) => op.state === "sending")) return "sending";
  if (ops.some((op) => op.state === "pending" && op.attempts > 0)) return "sending";
  if (ops.some((op) => op.state === "pending") || !finished) return "pending";
  return "delivered";
}

/** Brings a delivery's row in line with its ops. Part of a larger command. */
export function* refreshDelivery(tenant: string, delivery: string, now: number): Program<DeliveryState> {
  const ops = yield* all(opStates, { tenant, delivery });
  const row = yield* first(messageOf, { tenant, id: delivery });
  const state = stateOfDelivery(ops, row?.message_id !== null);
  const waiting = ops.find((op) => op.state === "pending");
  const open = state === "pending" || state === "sending";
  yield* all(setDelivery, {
    tenant,
    id: delivery,
    state,
    reason: ops.findLast((op) => op.error !== null)?.error ?? null,
    settledAt: open ? null : now,
    nextAt: waiting?.next_at ?? null,
  });
  return state;
}

/**
 * Stores how an attempt ended. `delivered` needs the platform's receipt.
 * @returns null if the op was taken over meanwhile: what this process did is then settled by reconciling.
 */
export const settleOp = command("deliveries.settle-op", function* (input: SettleInput, env) {
  const { settlement, tenant } = input;
  const retry = settlement.kind === "retry" ? settlement : null;
  const row = yield* first(settle, {
    tenant,
    op: input.op,
    owner: input.owner,
    fence: input.fence,
    state: retry ? "pending" : settlement.kind,
    error: settlement.kind === "done" ? null : settlement.reason,
    nextAt: env.now + (retry?.inMs ?? 0),
    ambiguous: retry?.ambiguous === true ? 1 : 0,
  });
  if (!row) return null;
  if (settlement.kind === "done" && settlement.platformId !== null) {
    const { platformId, permalink } = settlement;
    const receipt = {
      tenant,
      delivery: row.delivery_id,
      part: row.part,
      platformId,
      address: row.address,
      permalink,
    };
    yield* storeReceipt(receipt, env.now);
  }
  if (settlement.kind === "blocked" || settlement.kind === "dead") {
    const { kind: state, reason } = settlement;
    yield* all(blockRest, { tenant, delivery: row.delivery_id, state, reason });
  }
  const state = yield* refreshDelivery(tenant, row.delivery_id, env.now);
  if (state === "delivered") yield* markPosted(tenant, row.delivery_id, row.address);
  env.reach("receipt:before-commit");
  return { delivery: row.delivery_id, state, nextAt: retry ? env.now + retry.inMs : null };
});

const answeredRun = statement<{ tenant: string; id: string }>()((k, p) =>
  k
    .selectFrom("deliveries")
    .select(["run_id", "kind"])
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

/** A run's own answer has reached the platform: from now on `posted_in` says where. */
function* markPosted(tenant: string, delivery: string, address: string): Program<void> {
  const row = yield* first(answeredRun, { tenant, id: delivery });
  if (row?.run_id && (row.kind === "final" || row.kind === "notice")) {
    yield* all(notePosted, { tenant, run: row.run_id, address });
  }
}
