import { sql } from "kysely";
import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";
import type { Tables } from "../db/tables.ts";
import type { ScheduleRecord, ScheduleSource, ScheduleState } from "./schedule.ts";

export function toSchedule(row: Tables["schedules"]): ScheduleRecord {
  return {
    id: row.id,
    source: row.source as ScheduleSource,
    state: row.state as ScheduleState,
    cron: row.cron,
    timeZone: row.time_zone,
    to: row.target,
    account: row.account,
    agent: row.agent,
    text: row.text,
    askedBy: row.asked_by,
    trace: row.trace_id,
    nextAt: row.next_at,
    lastAt: row.last_at,
    lastRun: row.last_run,
    lastDelivery: row.last_delivery,
    createdAt: row.created_at,
  };
}

export const scheduleById = statement<{ tenant: string; id: string }>()((k, p) =>
  k.selectFrom("schedules").selectAll().where("tenant_id", "=", p.tenant).where("id", "=", p.id),
);

export async function readSchedule(db: Database, tenant: string, id: string): Promise<ScheduleRecord | null> {
  const [row] = await db.read(scheduleById, { tenant, id });
  return row ? toSchedule(row) : null;
}

const due = statement<{ tenant: string; now: number; limit: number }>()((k, p) =>
  k
    .selectFrom("schedules")
    .selectAll()
    .where("tenant_id", "=", p.tenant)
    .where(sql<boolean>`state = 'active'`)
    .where("next_at", "<=", p.now)
    .orderBy("next_at")
    .limit(p.limit),
);

/** What is due, the oldest first. */
export async function readDue(
  db: Database,
  tenant: string,
  now: number,
  limit: number,
): Promise<ScheduleRecord[]> {
  return (await db.read(due, { tenant, now, limit })).map(toSchedule);
}

const next = statement<{ tenant: string }>()((k, p) =>
  k
    .selectFrom("schedules")
    .select("next_at")
    .where("tenant_id", "=", p.tenant)
    .where(sql<boolean>`state = 'active'`)
    .where("next_at", "is not", null)
    .orderBy("next_at")
    .limit(sql.lit(1)),
);

/** When the next one is due, or null. */
export async function readNextDue(db: Database, tenant: string): Promise<number | null> {
  const [row] = await db.read(next, { tenant });
  return row?.next_at ?? null;
}

export interface ScheduleFilter {
  states?: readonly string[];
  before?: { createdAt: number; id: string };
  limit: number;
}

/** Schedules, the newest first. */
export async function listSchedules(
  db: Database,
  tenant: string,
  filter: ScheduleFilter,
): Promise<ScheduleRecord[]> {
  const rows = await db.query((k) => {
    let q = k.selectFrom("schedules").selectAll().where("tenant_id", "=", tenant);
    if (filter.states?.length) q = q.where("state", "in", filter.states);
    if (filter.before) {
      const { createdAt, id } = filter.before;
      q = q.where((e) =>
        e.or([e("created_at", "<", createdAt), e.and([e("created_at", "=", createdAt), e("id", "<", id)])]),
      );
    }
    return q.orderBy("created_at", "desc").orderBy("id", "desc").limit(filter.limit);
  });
  return rows.map(toSchedule);
}
