import { sql } from "kysely";
import { all, first, type CommandEnv, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";

/**
 * A lane orders the turns of one conversation or thread. `SKIP LOCKED` alone would break that order, and looking for
 * the head of every lane at each claim costs more the more is queued; so a queued run carries `ready`, which accept and
 * finish set while they hold the lane's row, and a claim only looks at ready ones.
 *
 * Order of locks, where a command takes several: lane, runs, conversation, then whatever else. Postgres would find out
 * about two commands of one place that wait for each other, but only after a second of both standing still.
 */
// States stand as literals, not as bound values: only so does SQLite see that a partial index fits.
const takeLaneSeq = statement<{ tenant: string; lane: string }>()((k, p) =>
  k
    .insertInto("lanes")
    .values({ tenant_id: p.tenant, id: p.lane, last_seq: 1 })
    .onConflict((c) =>
      c.columns(["tenant_id", "id"]).doUpdateSet({ last_seq: sql<number>`lanes.last_seq + 1` }),
    )
    .returning("last_seq"),
);

const lockRow = statement<{ tenant: string; lane: string }>()((k, p, dialect) =>
  k
    .selectFrom("lanes")
    .select("last_seq")
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.lane)
    .$if(dialect === "postgres", (q) => q.forUpdate()),
);

const liveInLane = statement<{ tenant: string; lane: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(["id", "state", "fence", "owner"])
    .where("tenant_id", "=", p.tenant)
    .where("lane", "=", p.lane)
    .where("foreground", "=", sql<number>`1`)
    .where(sql<boolean>`finished_at is null`)
    .orderBy("lane_seq")
    .limit(sql<number>`1`),
);

const readyHead = statement<{ tenant: string; lane: string }>()((k, p) =>
  k
    .updateTable("runs")
    .set({ ready: sql<number>`1` })
    .where("tenant_id", "=", p.tenant)
    .where("ready", "=", sql<number>`0`)
    .where("state", "=", sql<string>`'queued'`)
    .where("id", "=", (e) =>
      e
        .selectFrom("runs as head")
        .select("head.id")
        .where("head.tenant_id", "=", p.tenant)
        .where("head.lane", "=", p.lane)
        .where("head.foreground", "=", sql<number>`1`)
        .where(sql<boolean>`head.finished_at is null`)
        .orderBy("head.lane_seq")
        .limit(sql<number>`1`),
    )
    .returning("id"),
);

/** The next number in a lane; from here to the commit nobody else can change what is ready in it. */
export function* enterLane(tenant: string, lane: string): Program<number> {
  const row = yield* first(takeLaneSeq, { tenant, lane });
  return row?.last_seq ?? 1;
}

/** The first foreground run of a lane that has not ended, if there is one. */
export function* headOfLane(
  tenant: string,
  lane: string,
): Program<{ id: string; state: string; fence: number; owner: string | null } | undefined> {
  return yield* first(liveInLane, { tenant, lane });
}

const lockRunRow = statement<{ tenant: string; run: string }>()((k, p) =>
  k.selectFrom("runs").select("id").where("tenant_id", "=", p.tenant).where("id", "=", p.run).forUpdate(),
);

/** Takes a run's row until the commit. */
export function* lockRun(tenant: string, run: string, env: CommandEnv): Program<void> {
  if (env.dialect === "postgres") yield* all(lockRunRow, { tenant, run });
}

/** Takes a lane's row until the commit: what is ready in it is then this command's to decide. */
export function* lockLane(tenant: string, lane: string, env: CommandEnv): Program<void> {
  if (env.dialect === "postgres") yield* all(lockRow, { tenant, lane });
}

/**
 * After a foreground run has ended, while its lane is locked: the next one of its lane may be claimed. The head is looked for among queued and
 * live runs alike, so a lane whose head still runs gets nothing new.
 * @returns the run that became ready
 */
export function* advanceLane(tenant: string, lane: string): Program<string | null> {
  const row = yield* first(readyHead, { tenant, lane });
  return row?.id ?? null;
}
