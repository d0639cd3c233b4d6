import { sql } from "kysely";
import { all, command, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { callNext } from "./op-order.ts";
import { refreshDelivery } from "./refresh-delivery.ts";
import { storeReceipt } from "./record-delivery.ts";

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
  /** `ambiguous`: it was given up while an earlier attempt still is unclear, so a retry by hand reconciles first. */
  | { kind: "unknown" | "blocked" | "dead"; reason: string; ambiguous?: boolean };

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

const notePosted = statement<{ tenant: string; run: string; address: string }>()((k, p) =>
  k
    .updateTable("runs")
    .set({ posted_in: p.address })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run),
);

/**
 * Stores how an attempt ended. `delivered` needs the platform's receipt.
 * @returns null if the op was taken over meanwhile: what this process did is then settled by reconciling.
 */
export const settleOp = command("deliveries.settle-op", function* (input: SettleInput, env) {
  const { settlement, tenant } = input;
  const retry = settlement.kind === "retry" ? settlement : null;
  const ambiguous = settlement.kind !== "done" && settlement.ambiguous === true;
  const row = yield* first(settle, {
    tenant,
    op: input.op,
    owner: input.owner,
    fence: input.fence,
    state: retry ? "pending" : settlement.kind,
    error: settlement.kind === "done" ? null : settlement.reason,
    nextAt: env.now + (retry?.inMs ?? 0),
    ambiguous: ambiguous ? 1 : 0,
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
  if (!retry) yield* callNext(tenant, row.address, env.now);
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
