import { sql } from "kysely";
import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";
import { isLive, runColumns, toRunRecord, type RunRecord } from "./read-runs.ts";

const headOf = statement<{ tenant: string; lane: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(runColumns)
    .where("tenant_id", "=", p.tenant)
    .where("lane", "=", p.lane)
    .where("foreground", "=", sql.lit(1))
    .where(isLive)
    .orderBy("lane_seq")
    .limit(sql.lit(1)),
);

/** The foreground run whose turn it is in a lane: the one that runs or waits, else the first that is queued. */
export async function readForegroundRun(
  db: Database,
  tenant: string,
  lane: string,
): Promise<RunRecord | null> {
  const [row] = await db.read(headOf, { tenant, lane });
  return row ? toRunRecord(row) : null;
}
