import type { Reminder } from "../agents/agent.ts";
import { WaybillError } from "../kernel/errors.ts";
import { scheduleProblems } from "../schedules/check-schedule.ts";
import { defaultTimeZone } from "../schedules/cadence.ts";
import { addReminder } from "../schedules/remind.ts";
import type { ScheduleSpec } from "../schedules/schedule.ts";
import { digestOf } from "../schedules/store-schedule.ts";
import { storable, type LiveRun } from "./live-run.ts";
import type { RunServices } from "./services.ts";

/**
 * Records that something is said later at `to`, which the rules of addresses have passed: the turn's own place, or one
 * that its run may send to. At its time they are asked again.
 * @throws WaybillError `invalid_request`, `run_lost`, `too_many_reminders`
 */
export async function remind(
  s: RunServices,
  live: LiveRun,
  reminder: Reminder,
  to: string,
): Promise<{ schedule: string }> {
  const now = s.clock.now();
  const at = timeOf(reminder, now);
  const text = typeof reminder.text === "string" ? storable(reminder.text) : "";
  const agent = reminder.agent ?? null;
  const problems = scheduleProblems(
    { at, text, ...(agent === null ? {} : { agent }) },
    {
      now,
      agentProblem: (name) => (s.agents.names.includes(name) ? null : "is not one of the agents here."),
    },
  );
  const [first] = problems;
  if (first) {
    throw new WaybillError("invalid_request", `ctx.remind(reminder): ${first.field} ${first.rule}`, {
      field: first.field,
      issues: problems,
    });
  }
  const { run } = live;
  const spec: ScheduleSpec = {
    id: s.ids.next("sched"),
    source: "agent",
    cron: null,
    timeZone: defaultTimeZone,
    to,
    account: null,
    agent,
    text,
    askedBy: run.id,
    trace: run.trace,
  };
  const schedule = { spec, nextAt: at, digest: digestOf(spec, at) };
  const made = await s.db.do(addReminder, { fence: live.fence, schedule });
  s.hear.schedulesChanged?.();
  return made;
}

/** @throws WaybillError `invalid_request` */
function timeOf(reminder: Reminder, now: number): number {
  const { at, in: inMs } = reminder;
  const time =
    at === undefined
      ? typeof inMs === "number"
        ? now + Math.round(inMs)
        : Number.NaN
      : typeof at === "string"
        ? Date.parse(at)
        : at.getTime();
  if ((at === undefined) !== (inMs === undefined) && Number.isFinite(time)) return time;
  throw new WaybillError(
    "invalid_request",
    "ctx.remind(reminder): give a time in at (a Date, or a text such as 2026-01-31T09:30:00Z), or milliseconds from now in in.",
    { field: "at" },
  );
}
