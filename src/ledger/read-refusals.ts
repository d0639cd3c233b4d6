import { sql } from "kysely";
import type { Database } from "../db/database.ts";

/** A send of a run that the rules of addresses refused. Times are milliseconds since 1970. */
export interface RefusalRecord {
  run: string;
  seq: number;
  agent: string;
  data: Record<string, unknown>;
  at: number;
}

export interface RefusalFilter {
  /** Only those before this one in the order of the list (the newest first). */
  before?: { at: number; run: string; seq: number };
  limit: number;
}

/** Refused sends of all runs, the newest first. */
export async function listRefusals(
  db: Database,
  tenant: string,
  filter: RefusalFilter,
): Promise<RefusalRecord[]> {
  const rows = await db.query((k) => {
    let q = k
      .selectFrom("run_events as e")
      .innerJoin("runs as r", (join) =>
        join.onRef("r.tenant_id", "=", "e.tenant_id").onRef("r.id", "=", "e.run_id"),
      )
      .select(["e.run_id", "e.event_seq", "e.data_json", "e.at", "r.agent"])
      .where("e.tenant_id", "=", tenant)
      // A literal: only so is the index of refusals seen to fit.
      .where(sql<boolean>`e.kind = 'send_refused'`);
    if (filter.before) {
      const { at, run, seq } = filter.before;
      q = q.where((e) =>
        e.or([
          e("e.at", "<", at),
          e.and([e("e.at", "=", at), e("e.run_id", "<", run)]),
          e.and([e("e.at", "=", at), e("e.run_id", "=", run), e("e.event_seq", "<", seq)]),
        ]),
      );
    }
    return q
      .orderBy("e.at", "desc")
      .orderBy("e.run_id", "desc")
      .orderBy("e.event_seq", "desc")
      .limit(filter.limit);
  });
  return rows.map((row) => ({
    run: row.run_id,
    seq: row.event_seq,
    agent: row.agent,
    data: row.data_json === null ? {} : (JSON.parse(row.data_json) as Record<string, unknown>),
    at: row.at,
  }));
}
