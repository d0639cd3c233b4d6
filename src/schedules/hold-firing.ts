import { sql } from "kysely";
import { all, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import type { Missing } from "./resolve-destination.ts";
import type { ScheduleSpec } from "./schedule.ts";

/** What was to be said when a delivery was held: `deliveries.held_json`. */
export interface HeldContent {
  v: 1;
  agent: string | null;
  text: string;
}

/** What a schedule has held: one delivery, or none. */
export const heldOfSchedule = statement<{ tenant: string; schedule: string }>()((k, p) =>
  k
    .selectFrom("deliveries")
    .select("id")
    .where("tenant_id", "=", p.tenant)
    // Said twice, so that the index of what is not settled fits.
    .where(sql<boolean>`state <> 'delivered' and state in ('held', 'blocked')`)
    .where("schedule_id", "=", p.schedule)
    .where("held_json", "is not", null)
    .limit(sql.lit(1)),
);

interface HeldRow {
  tenant: string;
  id: string;
  address: string;
  state: string;
  rule: string;
  rejected: string;
  reason: string;
  schedule: string;
  content: string;
  at: number;
}

const insertHeld = statement<HeldRow>()((k, p) =>
  k.insertInto("deliveries").values({
    tenant_id: p.tenant,
    id: p.id,
    kind: sql.lit("schedule"),
    address: p.address,
    state: p.state,
    rule: p.rule,
    rejected_json: p.rejected,
    reason: p.reason,
    attempts: sql.lit(0),
    created_at: p.at,
    settled_at: p.at,
    schedule_id: p.schedule,
    held_json: p.content,
  }),
);

const updateHeld = statement<HeldRow>()((k, p) =>
  k
    .updateTable("deliveries")
    .set({
      address: p.address,
      state: p.state,
      rule: p.rule,
      rejected_json: p.rejected,
      reason: p.reason,
      settled_at: p.at,
      held_json: p.content,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    // Completed in this moment by an operator: then it is sent, and not held again.
    .where("held_json", "is not", null)
    .returning("id"),
);

/**
 * Holds what a schedule would have said: a delivery without a message, which an operator completes. A schedule has one
 * of them at most; a later firing brings it up to date. Part of a command that has the schedule's row.
 * @returns the delivery's id
 */
export function* holdFiring(
  input: { tenant: string; id: string; schedule: ScheduleSpec; missing: Missing },
  now: number,
): Program<string> {
  const { tenant, schedule, missing } = input;
  const before = yield* first(heldOfSchedule, { tenant, schedule: schedule.id });
  const content: HeldContent = { v: 1, agent: schedule.agent, text: schedule.text };
  const row: HeldRow = {
    tenant,
    id: input.id,
    address: missing.address,
    state: missing.kind,
    rule: missing.rule,
    rejected: JSON.stringify(missing.rejected),
    reason: missing.reason,
    schedule: schedule.id,
    content: JSON.stringify(content),
    at: now,
  };
  if (before) {
    const standing = yield* first(updateHeld, { ...row, id: before.id });
    if (standing) return standing.id;
  }
  yield* all(insertHeld, row);
  return row.id;
}

/** What is held, by the delivery's id. */
export const heldOf = statement<{ tenant: string; id: string }>()((k, p) =>
  k
    .selectFrom("deliveries")
    .select(["id", "state", "schedule_id", "held_json"])
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);
