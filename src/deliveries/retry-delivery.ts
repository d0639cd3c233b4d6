import { sql } from "kysely";
import { all, command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { WaybillError } from "../kernel/errors.ts";
import { refreshDelivery } from "./refresh-delivery.ts";

const find = statement<{ tenant: string; id: string }>()((k, p) =>
  k.selectFrom("deliveries").select(["state"]).where("tenant_id", "=", p.tenant).where("id", "=", p.id),
);

const reopen = statement<{ tenant: string; delivery: string; now: number }>()((k, p) =>
  k
    .updateTable("ops")
    .set({ state: sql.lit("pending"), next_at: p.now, attempts: sql.lit(0), error: null })
    .where("tenant_id", "=", p.tenant)
    .where("delivery_id", "=", p.delivery)
    .where(sql<boolean>`state in ('dead', 'blocked', 'unknown', 'held')`)
    // What a later op of the same part has taken over (a preview that failed) is not sent again.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("ops as later")
            .select("later.id")
            .where("later.tenant_id", "=", p.tenant)
            .where("later.delivery_id", "=", p.delivery)
            .whereRef("later.part", "=", "ops.part")
            .whereRef("later.op_seq", ">", "ops.op_seq"),
        ),
      ),
    )
    .returning("id"),
);

/**
 * Sends again what was given up: dead, blocked, held, and `unknown` too, since a person who looked has decided.
 * @throws WaybillError `unknown_delivery`, `delivery_not_retryable`
 */
export const retryDelivery = command(
  "deliveries.retry-delivery",
  function* (input: { tenant: string; delivery: string }, env) {
    const row = yield* first(find, { tenant: input.tenant, id: input.delivery });
    if (!row) {
      throw new WaybillError("unknown_delivery", `There is no delivery ${input.delivery}.`, {
        delivery: input.delivery,
      });
    }
    const reopened = yield* all(reopen, { ...input, now: env.now });
    if (reopened.length === 0) {
      throw new WaybillError(
        "delivery_not_retryable",
        `The delivery ${input.delivery} is ${row.state}; only dead, blocked, held and unknown ones can be sent again.`,
        { delivery: input.delivery, state: row.state },
      );
    }
    return { state: yield* refreshDelivery(input.tenant, input.delivery, env.now) };
  },
);
