import { sql } from "kysely";
import { all, command, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { WaybillError } from "../kernel/errors.ts";
import { canonicalJson, sha256 } from "../kernel/digest.ts";
import { scheduleById, toSchedule } from "./read-schedules.ts";
import type { ScheduleRecord, ScheduleSpec, ScheduleState } from "./schedule.ts";

/** What is stored of a schedule when it is made or set anew. */
export interface NewSchedule {
  spec: ScheduleSpec;
  nextAt: number | null;
  /** Of what was asked for: the same again is nothing new. */
  digest: string;
}

/** The digest of a schedule: everything of it that can be written. `at` is its time where it comes once. */
export function digestOf(spec: ScheduleSpec, at: number | null): string {
  const { cron, timeZone, to, account, agent, text } = spec;
  return sha256(canonicalJson([cron, timeZone, to, account, agent, text, at]));
}

interface Row {
  tenant: string;
  id: string;
  source: string;
  digest: string;
  target: string | null;
  account: string | null;
  agent: string | null;
  cron: string | null;
  timeZone: string;
  text: string;
  askedBy: string | null;
  trace: string | null;
  state: string;
  nextAt: number | null;
  at: number;
}

const put = statement<Row>()((k, p) =>
  k
    .insertInto("schedules")
    .values({
      tenant_id: p.tenant,
      id: p.id,
      source: p.source,
      digest: p.digest,
      target: p.target,
      account: p.account,
      agent: p.agent,
      cron: p.cron,
      time_zone: p.timeZone,
      text: p.text,
      asked_by: p.askedBy,
      trace_id: p.trace,
      state: p.state,
      next_at: p.nextAt,
      created_at: p.at,
    })
    .onConflict((c) =>
      c.columns(["tenant_id", "id"]).doUpdateSet({
        source: p.source,
        digest: p.digest,
        target: p.target,
        account: p.account,
        agent: p.agent,
        cron: p.cron,
        time_zone: p.timeZone,
        text: p.text,
        state: p.state,
        next_at: p.nextAt,
      }),
    ),
);

const lockById = statement<{ tenant: string; id: string }>()((k, p, dialect) =>
  k
    .selectFrom("schedules")
    .selectAll()
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    .$if(dialect === "postgres", (q) => q.forUpdate()),
);

export function* putSchedule(
  tenant: string,
  { spec, digest, nextAt }: NewSchedule,
  state: ScheduleState,
  now: number,
): Program<void> {
  const { id, source, to, account, agent, cron, timeZone, text, askedBy, trace } = spec;
  const stands = state === "active" ? nextAt : null;
  const what = { target: to, account, agent, cron, timeZone, text, askedBy, trace };
  yield* all(put, { tenant, id, source, digest, ...what, state, nextAt: stands, at: now });
}

const fromSettings = statement<{ tenant: string }>()((k, p) =>
  k
    .selectFrom("schedules")
    .select("id")
    .where("tenant_id", "=", p.tenant)
    .where(sql<boolean>`source = 'settings' and state <> 'removed'`),
);

const setState = statement<{ tenant: string; id: string; state: string; nextAt: number | null }>()((k, p) =>
  k
    .updateTable("schedules")
    .set({ state: p.state, next_at: p.nextAt })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

/**
 * Brings what is stored in line with the settings, at each start. What did not change keeps its next time, so what was
 * missed while nothing ran comes once; another cron or time zone begins anew, and what an operator disabled stays so.
 * @returns the ids of those that are new or changed
 */
export const syncSchedules = command(
  "schedules.sync",
  function* (input: { tenant: string; schedules: NewSchedule[] }, env) {
    const { tenant } = input;
    const changed: string[] = [];
    const named = new Set<string>();
    for (const one of input.schedules) {
      const { id } = one.spec;
      named.add(id);
      const row = yield* first(lockById, { tenant, id });
      const isOurs = row?.source === "settings" && row.state !== "removed";
      if (isOurs && row.digest === one.digest) continue;
      changed.push(id);
      const sameTimes = isOurs && row.cron === one.spec.cron && row.time_zone === one.spec.timeZone;
      const nextAt = sameTimes ? row.next_at : one.nextAt;
      const state = isOurs && row.state === "disabled" ? "disabled" : "active";
      yield* putSchedule(tenant, { ...one, nextAt }, state, env.now);
    }
    for (const { id } of yield* all(fromSettings, { tenant })) {
      if (named.has(id)) continue;
      yield* all(setState, { tenant, id, state: "removed", nextAt: null });
    }
    return changed;
  },
);

/**
 * Adds a schedule of an operator. The same id with the same content again: what stands.
 * @throws WaybillError `idempotency_conflict`
 */
export const addSchedule = command(
  "schedules.add",
  function* (input: { tenant: string; schedule: NewSchedule }, env) {
    const { tenant, schedule } = input;
    const { id } = schedule.spec;
    const before = yield* first(lockById, { tenant, id });
    if (before && before.digest !== schedule.digest) {
      throw new WaybillError(
        "idempotency_conflict",
        `There is a schedule ${id} already, and it says something else. Take another id, or change that one.`,
        { field: "id", schedule: id },
      );
    }
    if (!before) yield* putSchedule(tenant, schedule, "active", env.now);
    return yield* stored(tenant, id);
  },
);

/** What may be changed of a schedule; left out: stays. */
export interface ScheduleChange {
  state?: "active" | "disabled";
  to?: string;
  account?: string | null;
  text?: string;
}

/**
 * Changes a schedule. Enabled again, it comes at `nextAt`, which the caller worked out; what was missed meanwhile does
 * not come.
 * @throws WaybillError `unknown_schedule`
 */
export const changeSchedule = command(
  "schedules.change",
  function* (
    input: { tenant: string; id: string; change: ScheduleChange; nextAt: number | null },
    env,
  ): Program<ScheduleRecord> {
    const { tenant, id, change } = input;
    const row = yield* first(lockById, { tenant, id });
    if (!row) throw unknownSchedule(id);
    const before = toSchedule(row);
    const { state: wanted, to, account, text } = change;
    const spec: ScheduleSpec = {
      ...before,
      ...(to === undefined ? {} : { to, account: account ?? null }),
      ...(text === undefined ? {} : { text }),
    };
    const state = wanted ?? before.state;
    const nextAt = wanted === "active" && before.state !== "active" ? input.nextAt : before.nextAt;
    // The digest stays that of its making, so that the same request again is still the same.
    yield* putSchedule(tenant, { spec, nextAt, digest: row.digest }, state, env.now);
    return yield* stored(tenant, id);
  },
);

const remove = statement<{ tenant: string; id: string }>()((k, p) =>
  k
    .deleteFrom("schedules")
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    .where(sql<boolean>`(source <> 'settings' or state = 'removed')`)
    .returning("id"),
);

/**
 * Removes a schedule that the settings do not name; what they name is theirs.
 * @throws WaybillError `unknown_schedule`
 */
export const removeSchedule = command("schedules.remove", function* (input: { tenant: string; id: string }) {
  if (!(yield* first(remove, input))) throw unknownSchedule(input.id);
});

export function unknownSchedule(id: string): WaybillError {
  return new WaybillError("unknown_schedule", `There is no schedule ${id}.`, { schedule: id });
}

function* stored(tenant: string, id: string): Program<ScheduleRecord> {
  const row = yield* first(scheduleById, { tenant, id });
  if (!row) throw unknownSchedule(id);
  return toSchedule(row);
}
