import { sql } from "kysely";
import { command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { WaybillError } from "../kernel/errors.ts";
import { hold } from "../ledger/end-run.ts";
import { noteRun } from "../ledger/note-run.ts";
import type { Fence } from "../ledger/run.ts";
import { putSchedule, type NewSchedule } from "./store-schedule.ts";

/** Reminders of one place that have not come yet, at most: an agent that makes more of them has lost its way. */
export const remindersMost = 100;

const waiting = statement<{ tenant: string; target: string }>()((k, p) =>
  k
    .selectFrom("schedules")
    .select((e) => e.fn.countAll<number | string>().as("count"))
    .where("tenant_id", "=", p.tenant)
    .where(sql<boolean>`state = 'active' and source = 'agent'`)
    .where("target", "=", p.target),
);

/**
 * Records a reminder that a live run asks for, with an event of the run.
 * @throws WaybillError `run_lost`, `too_many_reminders`
 */
export const addReminder = command(
  "schedules.remind",
  function* (input: { fence: Fence; schedule: NewSchedule }, env) {
    const { fence, schedule } = input;
    const { spec, nextAt } = schedule;
    yield* hold(fence);
    const row = yield* first(waiting, { tenant: fence.tenant, target: spec.to ?? "" });
    if (Number(row?.count ?? 0) >= remindersMost) {
      throw new WaybillError(
        "too_many_reminders",
        `${remindersMost} reminders wait for ${spec.to} already. Wait until some have come, or have an operator remove some.`,
        { limit: remindersMost, address: spec.to },
      );
    }
    yield* putSchedule(fence.tenant, schedule, "active", env.now);
    yield* noteRun(fence, "reminder", { schedule: spec.id, address: spec.to, at: nextAt }, env.now);
    return { schedule: spec.id };
  },
);
