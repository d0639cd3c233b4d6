import { sql } from "kysely";
import { all, command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { slotNow } from "../turns/slots.ts";
import { recordEffect, type Effect, type Fired } from "./effect.ts";
import { holdFiring } from "./hold-firing.ts";
import type { Found, Missing } from "./resolve-destination.ts";
import type { ScheduleSpec } from "./schedule.ts";

export interface FireInput {
  tenant: string;
  schedule: ScheduleSpec;
  /** The time that it is fired for: what stands in `next_at` now. */
  due: number;
  /** When it comes again; null: it was for once. */
  nextAt: number | null;
  /** The gateway's time. */
  at: number;
  /** The slot that the destination was taken from, and what it held. */
  slot: (NonNullable<Found["slot"]> & { address: string }) | null;
  firing: Effect | { kind: "hold"; id: string; missing: Missing };
}

export type FireOutput =
  | { kind: "fired"; fired: Fired }
  | { kind: "held"; delivery: string }
  /** Another node was first, or it was changed meanwhile. */
  | { kind: "lost" }
  /** The slot holds another place by now: ask it again. */
  | { kind: "moved" };

const moveOn = statement<{
  tenant: string;
  id: string;
  due: number;
  nextAt: number | null;
  state: string;
  at: number;
}>()((k, p) =>
  k
    .updateTable("schedules")
    .set({ next_at: p.nextAt, state: p.state, last_at: p.at })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    .where("next_at", "=", p.due)
    .where(sql<boolean>`state = 'active'`)
    .returning("id"),
);

const noteOutcome = statement<{ tenant: string; id: string; run: string | null; delivery: string | null }>()(
  (k, p) =>
    k
      .updateTable("schedules")
      .set({ last_run: p.run, last_delivery: p.delivery })
      .where("tenant_id", "=", p.tenant)
      .where("id", "=", p.id),
);

/**
 * Fires a schedule: the next time, and the turn with its run, the delivery, or what is held, in one commit. Many nodes
 * may find it due; the one that moves `next_at` on has fired it, and whoever dies before the commit has done nothing.
 */
export const fireSchedule = command("schedules.fire", function* (input: FireInput, env) {
  const { tenant, schedule, firing, slot } = input;
  const { id } = schedule;
  if (slot && (yield* slotNow(tenant, slot.account, slot.slot)) !== slot.address) {
    return { kind: "moved" } satisfies FireOutput as FireOutput;
  }
  const state = input.nextAt === null ? "done" : "active";
  const claim = { tenant, id, due: input.due, nextAt: input.nextAt, state, at: input.at };
  if (!(yield* first(moveOn, claim))) return { kind: "lost" } satisfies FireOutput as FireOutput;
  if (firing.kind === "hold") {
    const delivery = yield* holdFiring({ tenant, id: firing.id, schedule, missing: firing.missing }, env.now);
    yield* all(noteOutcome, { tenant, id, run: null, delivery });
    return { kind: "held", delivery } satisfies FireOutput as FireOutput;
  }
  const fired = yield* recordEffect(firing, env);
  yield* all(noteOutcome, { tenant, id, run: fired.run, delivery: fired.delivery });
  return { kind: "fired", fired } satisfies FireOutput as FireOutput;
});
