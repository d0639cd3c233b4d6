import { all, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { notYet } from "./op-order.ts";
import type { DeliveryState } from "./sender.ts";

const opStates = statement<{ tenant: string; delivery: string }>()((k, p) =>
  k
    .selectFrom("ops")
    .select(["part", "kind", "state", "next_at", "error", "attempts"])
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

const holdDelivery = statement<{ tenant: string; id: string }>()((k, p, dialect) =>
  k
    .selectFrom("deliveries")
    .select("message_id")
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    .$if(dialect === "postgres", (q) => q.forUpdate()),
);

export interface OpState {
  part: number;
  kind: string;
  state: string;
  next_at: number;
  error: string | null;
  attempts: number;
}

/**
 * The state of a delivery is the worst of its parts, and the state of a part is that of its last op: an edit that was
 * posted in place of a preview that failed has delivered that part.
 * @param ops in the order in which they go out
 * @param finished false for a preview whose answer is not there yet
 */
export function stateOfDelivery(ops: readonly OpState[], finished: boolean): DeliveryState {
  const parts = lastOfParts(ops);
  for (const worst of ["dead", "unknown", "blocked", "held"] as const) {
    if (parts.some((op) => op.state === worst)) return worst;
  }
  if (ops.some((op) => op.state === "sending")) return "sending";
  if (ops.some((op) => op.state === "pending" && op.attempts > 0)) return "sending";
  if (ops.some((op) => op.state === "pending")) return "pending";
  if (finished) return "delivered";
  return parts.length > 0 && parts.every((op) => op.kind === "delete") ? "withdrawn" : "pending";
}

function lastOfParts(ops: readonly OpState[]): OpState[] {
  return [...new Map(ops.map((op) => [op.part, op])).values()];
}

/** Brings a delivery's row in line with its ops. Part of a larger command. */
export function* refreshDelivery(tenant: string, delivery: string, now: number): Program<DeliveryState> {
  // The row first: a preview that fails while its answer is being recorded would else be written down as it was before.
  const row = yield* first(holdDelivery, { tenant, id: delivery });
  const ops = yield* all(opStates, { tenant, delivery });
  const state = stateOfDelivery(ops, row !== undefined && row.message_id !== null);
  const waiting = ops.find((op) => op.state === "pending");
  const open = state === "pending" || state === "sending";
  yield* all(setDelivery, {
    tenant,
    id: delivery,
    state,
    reason:
      state === "withdrawn"
        ? "the run ended without an answer, and its preview was taken away"
        : (lastOfParts(ops).findLast((op) => op.error !== null)?.error ?? null),
    settledAt: open ? null : now,
    nextAt: waiting === undefined || waiting.next_at === notYet ? null : waiting.next_at,
  });
  return state;
}
