import { asWaybillError, WaybillError } from "../kernel/errors.ts";
import { defaultTimeZone, nextTime } from "./cadence.ts";
import { scheduleProblems, type ScheduleProblem, type WrittenSchedule } from "./check-schedule.ts";
import { hastenSchedule } from "./hasten-schedule.ts";
import { listSchedules, readSchedule, type ScheduleFilter } from "./read-schedules.ts";
import { releaseHeldOf } from "./release-held.ts";
import { resolveDestination } from "./resolve-destination.ts";
import type { ScheduleRecord, ScheduleSource, ScheduleSpec } from "./schedule.ts";
import type { ScheduleServices } from "./services.ts";
import {
  addSchedule,
  changeSchedule,
  digestOf,
  removeSchedule,
  syncSchedules,
  unknownSchedule,
  type NewSchedule,
  type ScheduleChange,
} from "./store-schedule.ts";
import { targetProblems } from "./target.ts";

/** A schedule, and why it would be held if it fired now. */
export interface ShownSchedule extends ScheduleRecord {
  incomplete: string | null;
}

/** Schedules as operators handle them. */
export interface Schedules {
  /** Brings the store in line with the settings. */
  sync(written: readonly WrittenSchedule[]): Promise<void>;
  list(filter: ScheduleFilter): Promise<ShownSchedule[]>;
  /** @throws WaybillError `unknown_schedule` */
  show(id: string): Promise<ShownSchedule>;
  /** @throws WaybillError `invalid_request`, `idempotency_conflict` */
  add(written: WrittenSchedule): Promise<ShownSchedule>;
  /** @throws WaybillError `unknown_schedule`, `invalid_request` */
  change(id: string, change: ScheduleChange): Promise<ShownSchedule>;
  /**
   * Fires it now, as at its time: a run or a post, or what is held; one for once is done by it. Its times by cron stay.
   * @throws WaybillError `unknown_schedule`; `invalid_request` where it is not active
   */
  fire(id: string): Promise<ShownSchedule>;
  /** @throws WaybillError `unknown_schedule`, `invalid_request` */
  remove(id: string): Promise<void>;
}

export function createSchedules(s: ScheduleServices): Schedules {
  const { db, tenant } = s;
  const show = async (id: string): Promise<ShownSchedule> => {
    const found = await readSchedule(db, tenant, id);
    if (!found) throw unknownSchedule(id);
    return withProblem(s, found);
  };
  return {
    async sync(written) {
      const schedules = written.map((one) => newSchedule(s, one, "settings"));
      const changed = await db.do(syncSchedules, { tenant, schedules });
      for (const id of changed) await releaseHeldOf(s, id);
    },
    async list(filter) {
      const found = await listSchedules(db, tenant, filter);
      return Promise.all(found.map((one) => withProblem(s, one)));
    },
    show,
    async add(written) {
      const problems = scheduleProblems(written, {
        now: s.clock.now(),
        agentProblem: (name) => agentProblem(s, name),
      });
      const isRepeat = written.id !== undefined && (await readSchedule(db, tenant, written.id)) !== null;
      // The same request again, after its time: what stands is the answer.
      const told = isRepeat ? problems.filter(({ rule }) => rule !== "is past.") : problems;
      if (told.length > 0) throw invalid(told);
      const added = await db.do(addSchedule, { tenant, schedule: newSchedule(s, written, "api") });
      s.hear.schedulesChanged();
      return withProblem(s, added);
    },
    change: (id, change) => changeOne(s, id, change),
    async fire(id) {
      const { state } = await show(id);
      if (state !== "active") {
        throw invalid([{ field: "state", rule: `is ${state}; only what is active can be fired.` }]);
      }
      await db.do(hastenSchedule, { tenant, id, at: s.clock.now() });
      s.hear.schedulesChanged();
      return show(id);
    },
    async remove(id) {
      const { source, state } = await show(id);
      if (source === "settings" && state !== "removed") throw settled(id, "leave it out there");
      await db.do(removeSchedule, { tenant, id });
    },
  };
}

async function changeOne(s: ScheduleServices, id: string, change: ScheduleChange): Promise<ShownSchedule> {
  const { db, tenant } = s;
  const before = await readSchedule(db, tenant, id);
  if (!before) throw unknownSchedule(id);
  const { state, to, account, text } = change;
  const isMore = to !== undefined || account !== undefined || text !== undefined;
  if (before.source === "settings" && isMore) throw settled(id, "change it there");
  if (to === undefined && account !== undefined) {
    throw invalid([{ field: "account", rule: "goes with to only: give both." }]);
  }
  if (state !== undefined && (before.state === "done" || before.state === "removed")) {
    const rule = `cannot be set: the schedule is ${before.state}.`;
    throw invalid([{ field: "state", rule }]);
  }
  const problems = to === undefined ? [] : targetProblems({ to, account: account ?? null });
  if (text?.trim() === "") throw invalid([{ field: "text", rule: "is empty." }]);
  if (problems.length > 0) throw invalid(problems);
  const now = s.clock.now();
  const { cron, timeZone } = before;
  const nextAt = cron === null ? (before.nextAt ?? now) : nextTime({ cron, timeZone }, now);
  const changed = await db.do(changeSchedule, { tenant, id, change, nextAt });
  s.hear.schedulesChanged();
  if (to !== undefined) await releaseHeldOf(s, id);
  return withProblem(s, changed);
}

async function withProblem(s: ScheduleServices, schedule: ScheduleRecord): Promise<ShownSchedule> {
  if (schedule.state === "done" || schedule.state === "removed") return { ...schedule, incomplete: null };
  const agent = schedule.agent === null ? null : agentProblem(s, schedule.agent);
  if (agent !== null) return { ...schedule, incomplete: agent };
  const resolved = await resolveDestination(s, schedule);
  return { ...schedule, incomplete: resolved.kind === "found" ? null : resolved.reason };
}

function agentProblem(s: ScheduleServices, name: string): string | null {
  try {
    s.agent(name);
    return null;
  } catch (thrown) {
    return asWaybillError(thrown).message;
  }
}

function newSchedule(s: ScheduleServices, written: WrittenSchedule, source: ScheduleSource): NewSchedule {
  const { cron, timeZone = defaultTimeZone, at, to, account, agent, text } = written;
  const spec: ScheduleSpec = {
    id: written.id ?? scheduleIdOf(s),
    source,
    cron: cron ?? null,
    timeZone,
    to: to ?? null,
    account: account ?? null,
    agent: agent ?? null,
    text,
    askedBy: null,
    trace: null,
  };
  const nextAt = cron === undefined ? (at ?? null) : nextTime({ cron, timeZone }, s.clock.now());
  return { spec, nextAt, digest: digestOf(spec, at ?? null) };
}

/** An id of ours, in the letters that schedules have. */
export function scheduleIdOf(s: Pick<ScheduleServices, "ids">): string {
  return s.ids.next("sched");
}

function invalid(issues: readonly ScheduleProblem[]): WaybillError {
  const said = issues.map(({ field, rule }) => `${field} ${rule}`).join(" ");
  return new WaybillError("invalid_request", said, { issues });
}

function settled(id: string, out: string): WaybillError {
  return new WaybillError(
    "invalid_request",
    `The schedule ${id} stands in the settings: ${out}. Here it can be disabled and enabled.`,
    { schedule: id, issues: [{ field: "id", rule: `stands in the settings; ${out}` }] },
  );
}
