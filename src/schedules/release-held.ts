import { sql } from "kysely";
import { all, command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { WaybillError } from "../kernel/errors.ts";
import { slotNow } from "../turns/slots.ts";
import { planEffect, recordEffect, type Effect, type Fired } from "./effect.ts";
import { heldOf, heldOfSchedule, type HeldContent } from "./hold-firing.ts";
import { readSchedule } from "./read-schedules.ts";
import { resolveDestination, resolveExplicit, type Found } from "./resolve-destination.ts";
import type { ScheduleServices } from "./services.ts";

const take = statement<{ tenant: string; id: string }>()((k, p) =>
  k
    .updateTable("deliveries")
    .set({ held_json: null })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    .where("held_json", "is not", null)
    .returning("id"),
);

/** An agent was asked instead: what it says has deliveries of its own. */
const askInstead = statement<{
  tenant: string;
  id: string;
  run: string | null;
  address: string;
  rule: string;
  reason: string;
  at: number;
}>()((k, p) =>
  k
    .updateTable("deliveries")
    .set({
      state: sql.lit("withdrawn"),
      run_id: p.run,
      address: p.address,
      rule: p.rule,
      reason: p.reason,
      settled_at: p.at,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

export interface ReleaseInput {
  tenant: string;
  delivery: string;
  rule: string;
  slot: (NonNullable<Found["slot"]> & { address: string }) | null;
  effect: Effect;
}

/**
 * Lets go what was held, once it has an address. Whoever is first does it.
 * @throws WaybillError `delivery_not_retryable`, `no_destination` (the slot moved in this moment)
 */
export const releaseHeld = command("schedules.release-held", function* (input: ReleaseInput, env) {
  const { tenant, delivery: id, slot, effect } = input;
  if (slot && (yield* slotNow(tenant, slot.account, slot.slot)) !== slot.address) {
    throw new WaybillError("no_destination", "The slot holds another place by now; try again.", {
      delivery: id,
    });
  }
  if (!(yield* first(take, { tenant, id }))) {
    throw new WaybillError("delivery_not_retryable", `The delivery ${id} is not held any more.`, {
      delivery: id,
    });
  }
  const fired = yield* recordEffect(effect, env);
  if (effect.kind === "run") {
    const { address, run } = fired;
    const agent = effect.accept.run.agent;
    const reason = `${agent} was asked at ${address} instead${run === null ? "" : `: ${run}`}`;
    yield* all(askInstead, { tenant, id, run, address, rule: input.rule, reason, at: env.now });
  }
  return fired;
});

/** True if a delivery is one that was held before it had an address. */
export async function isHeld(s: ScheduleServices, delivery: string): Promise<boolean> {
  const [row] = await s.db.read(heldOf, { tenant: s.tenant, id: delivery });
  return row !== undefined && row.held_json !== null;
}

/**
 * Completes what was held: with the place that an operator names, else with what its schedule says by now.
 * @throws WaybillError `unknown_delivery`, `delivery_not_retryable`, `no_destination`, `invalid_address`,
 *   `destination_not_allowed`, `unknown_agent`
 */
export async function completeHeld(s: ScheduleServices, delivery: string, to: string | null): Promise<Fired> {
  const [row] = await s.db.read(heldOf, { tenant: s.tenant, id: delivery });
  if (!row) {
    throw new WaybillError("unknown_delivery", `There is no delivery ${delivery}.`, { delivery });
  }
  if (row.held_json === null || row.schedule_id === null) {
    throw new WaybillError(
      "delivery_not_retryable",
      `The delivery ${delivery} is ${row.state} and waits for no address; what has one goes there or nowhere.`,
      { delivery, state: row.state },
    );
  }
  const schedule = await readSchedule(s.db, s.tenant, row.schedule_id);
  const found = to === null ? await foundAnew(s, delivery, schedule) : await resolveExplicit(s, to);
  const content = JSON.parse(row.held_json) as HeldContent;
  const firing = {
    schedule: row.schedule_id,
    content,
    askedBy: schedule?.askedBy ?? null,
    trace: schedule?.trace ?? null,
    held: delivery,
  };
  const slot = found.slot && { ...found.slot, address: found.place.address };
  const effect = planEffect(s, firing, found);
  const fired = await s.db.do(releaseHeld, { tenant: s.tenant, delivery, rule: found.rule, slot, effect });
  tellFired(s, fired);
  s.hear.held(delivery, fired.address);
  return fired;
}

async function foundAnew(
  s: ScheduleServices,
  delivery: string,
  schedule: Awaited<ReturnType<typeof readSchedule>>,
): Promise<Found> {
  const resolved = schedule ? await resolveDestination(s, schedule) : null;
  if (resolved?.kind === "found") return resolved;
  throw new WaybillError(
    "no_destination",
    `The delivery ${delivery} is still held: ${resolved?.reason ?? "its schedule is gone"}. Name a place with to, like web:main/general.`,
    { delivery, reason: resolved?.reason ?? null },
  );
}

/** After the destination of a schedule changed: what was held for want of it goes now, if it is whole. */
export async function releaseHeldOf(s: ScheduleServices, schedule: string): Promise<void> {
  const [row] = await s.db.read(heldOfSchedule, { tenant: s.tenant, schedule });
  if (!row) return;
  try {
    await completeHeld(s, row.id, null);
  } catch (error) {
    if (!(error instanceof WaybillError)) throw error;
    s.log.info({ schedule, delivery: row.id, code: error.code }, "what a schedule holds stays held");
  }
}

/** Tells whoever has something to do now. */
export function tellFired(s: ScheduleServices, fired: Fired): void {
  s.hear.posted(fired.address);
  if (fired.outbox) s.hear.opsAdded();
  if (fired.run !== null) s.hear.runsReady();
}
