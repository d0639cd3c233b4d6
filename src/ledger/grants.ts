import { sql } from "kysely";
import { all, command } from "../db/command.ts";
import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";
import { hold } from "./end-run.ts";
import type { Fence, RunState } from "./run.ts";

/**
 * A grant is what the holder of a token may act for: a set of runs, to which each run adds itself. The token itself is
 * nowhere: only its hash is stored, and any node finds the grant by it. A grant holds until it expires, and while one of
 * its runs is live; what it was given stays in it, since what it once acted for decides what has to be said in a call
 * (decision 0012).
 */
const putGrant = statement<{
  tenant: string;
  id: string;
  hash: string;
  holder: string;
  place: string;
  expires: number;
  now: number;
}>()((k, p) =>
  k
    .insertInto("grants")
    .values({
      tenant_id: p.tenant,
      id: p.id,
      token_hash: p.hash,
      made_for: p.holder,
      place: p.place,
      expires_at: p.expires,
      created_at: p.now,
    })
    .onConflict((c) =>
      c.columns(["tenant_id", "id"]).doUpdateSet({
        expires_at: p.expires,
        // Once it has had two, it has had two for good.
        place: sql<string | null>`case when grants.place = excluded.place then grants.place end`,
      }),
    ),
);

/** So that a call of a holder which has had a hundred thousand turns looks at a few. */
const forgetEnded = statement<{ tenant: string; grant: string; since: number }>()((k, p) =>
  k
    .updateTable("grant_runs")
    .set({ recent: sql.lit(0) })
    .where("tenant_id", "=", p.tenant)
    .where("grant_id", "=", p.grant)
    .where(sql<boolean>`recent = 1`)
    .where((e) =>
      e.exists(
        e
          .selectFrom("runs as r")
          .select("r.id")
          .whereRef("r.tenant_id", "=", "grant_runs.tenant_id")
          .whereRef("r.id", "=", "grant_runs.run_id")
          .where("r.finished_at", "<", p.since),
      ),
    ),
);

const putRun = statement<{
  tenant: string;
  grant: string;
  run: string;
  agentTurn: string | null;
  now: number;
}>()((k, p) =>
  k
    .insertInto("grant_runs")
    .values({
      tenant_id: p.tenant,
      grant_id: p.grant,
      run_id: p.run,
      agent_turn: p.agentTurn,
      added_at: p.now,
      recent: 1,
    })
    .onConflict((c) =>
      c.columns(["tenant_id", "grant_id", "run_id"]).doUpdateSet({
        agent_turn: sql<string | null>`coalesce(excluded.agent_turn, grant_runs.agent_turn)`,
      }),
    ),
);

export interface GrantRunInput {
  fence: Fence;
  grant: string;
  /** Of the token, SHA-256, base64url. */
  hash: string;
  holder: string;
  /** Where the run's answer is due. */
  place: string;
  /** Milliseconds from now. */
  lifeMs: number;
  /** How long a run that has ended may still be acted for, in milliseconds. */
  graceMs: number;
  /** The agent's own id of the turn, as we recorded it. */
  agentTurn: string | null;
}

/** A live run adds itself to a grant, which is made if there is none. @throws WaybillError `run_lost` */
export const grantRun = command("ledger.grant-run", function* (input: GrantRunInput, env) {
  const { fence, grant, hash, holder, place, agentTurn } = input;
  const { tenant } = fence;
  yield* hold(fence);
  yield* all(putGrant, {
    tenant,
    id: grant,
    hash,
    holder,
    place,
    expires: env.now + input.lifeMs,
    now: env.now,
  });
  yield* all(forgetEnded, { tenant, grant, since: env.now - input.graceMs });
  yield* all(putRun, { tenant, grant, run: fence.run, agentTurn, now: env.now });
});

const grantByHash = statement<{ tenant: string; hash: string }>()((k, p) =>
  k
    .selectFrom("grants")
    .select(["id", "made_for", "place", "expires_at"])
    .where("tenant_id", "=", p.tenant)
    .where("token_hash", "=", p.hash),
);

/** Joined from the grant's side, so that it reads as many runs as the grant had, not as many as there are. */
const runsOfGrant = statement<{ tenant: string; grant: string; since: number }>()((k, p, dialect) =>
  k
    .selectFrom("grant_runs as g")
    .innerJoin("runs as r", (j) => j.onRef("r.tenant_id", "=", "g.tenant_id").onRef("r.id", "=", "g.run_id"))
    .select([
      "r.id",
      "r.turn_id",
      "r.agent",
      "r.reply_to",
      "r.state",
      "r.fence",
      "r.finished_at",
      "r.scope",
      // Only this of the input, which may hold files.
      sql<
        string | null
      >`${dialect === "postgres" ? sql`r.input_json::json ->> 'kind'` : sql`json_extract(r.input_json, '$.kind')`}`.as(
        "kind",
      ),
      "g.agent_turn",
    ])
    .where("g.tenant_id", "=", p.tenant)
    .where("g.grant_id", "=", p.grant)
    .where(sql<boolean>`g.recent = 1`)
    .where((e) => e.or([e("r.finished_at", "is", null), e("r.finished_at", ">", p.since)])),
);

const runsOfTurn = statement<{ tenant: string; turn: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(["id", "reply_to"])
    .where("tenant_id", "=", p.tenant)
    .where("turn_id", "=", p.turn),
);

const member = statement<{ tenant: string; grant: string; run: string }>()((k, p) =>
  k
    .selectFrom("grant_runs")
    .select("run_id")
    .where("tenant_id", "=", p.tenant)
    .where("grant_id", "=", p.grant)
    .where("run_id", "=", p.run),
);

/** A run that a grant may act for now: it is live, or ended within the grace time. */
export interface GrantedRun {
  id: string;
  turn: string;
  agent: string;
  /** Where its answer is due. */
  replyTo: string;
  state: RunState;
  fence: number;
  /** Milliseconds since 1970; null: it is live. */
  finishedAt: number | null;
  /** The memory scope. */
  scope: string;
  /** How wide the conversation of its turn is. */
  kind: string;
  /** The agent's own id of the turn, as we recorded it. */
  agentTurn: string | null;
}

/** A grant as a call finds it. */
export interface Grant {
  id: string;
  holder: string;
  expired: boolean;
  /** Live ones, and those that ended within the grace time. */
  runs: GrantedRun[];
  /** True if all runs that it ever had are due at one and the same address. */
  onePlace: boolean;
}

/**
 * Finds the grant of a token by its hash, with what it may act for.
 * @param now milliseconds since 1970; `graceMs` is how long a run that ended may still be acted for
 * @returns null if there is no such grant
 */
export async function readGrant(
  db: Database,
  tenant: string,
  hash: string,
  { now, graceMs }: { now: number; graceMs: number },
): Promise<Grant | null> {
  const [row] = await db.read(grantByHash, { tenant, hash });
  if (!row) return null;
  const runs = await db.read(runsOfGrant, { tenant, grant: row.id, since: now - graceMs });
  const live = runs.some((run) => run.finished_at === null);
  return {
    id: row.id,
    holder: row.made_for,
    expired: row.expires_at <= now && !live,
    runs: runs.map((run) => ({
      id: run.id,
      turn: run.turn_id,
      agent: run.agent,
      replyTo: run.reply_to,
      state: run.state as RunState,
      fence: run.fence,
      finishedAt: run.finished_at,
      scope: run.scope,
      kind: run.kind ?? "unknown",
      agentTurn: run.agent_turn,
    })),
    // The runs were read last: one that was added meanwhile may be due elsewhere, which the grant did not say yet.
    onePlace: row.place !== null && runs.every((run) => run.reply_to === row.place),
  };
}

/** A run that this grant had at any time, by its turn: to tell one that has ended from one that was never granted. */
export async function readMember(
  db: Database,
  tenant: string,
  grant: string,
  turn: string,
): Promise<{ run: string; replyTo: string } | null> {
  for (const { id, reply_to } of await db.read(runsOfTurn, { tenant, turn })) {
    const [found] = await db.read(member, { tenant, grant, run: id });
    if (found) return { run: id, replyTo: reply_to };
  }
  return null;
}
