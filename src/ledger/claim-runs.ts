import { sql } from "kysely";
import { all, command } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { appendEvent } from "./events.ts";
import { ownerLives } from "./nodes.ts";
import type { ClaimedRun, RunInput, RunLimits } from "./run.ts";

export interface ClaimInput {
  tenant: string;
  /** The boot id of the node that claims. */
  owner: string;
  /** Agents that this node has, with their versions. */
  agents: { name: string; version: string }[];
  /** Runs at most. */
  limit: number;
}

/**
 * Claim, owner and `fence + 1` are one statement. Attempts are counted here, not at failure: a run that kills its
 * process counts too. An agent in another version than it was asked for is left to a live node that has that version;
 * if there is none, it is taken.
 *
 * Tried and dropped: finding heads of lanes with `not exists` at claim instead of `ready`. With 20,000 queued runs in
 * 200 lanes each claim looked at thousands of rows. And `where id in (select ... limit n for update skip locked)`
 * instead of `with`: Postgres may execute such a subquery once for each row, and then claims far more than `n`.
 */
const claim = statement<{ tenant: string; owner: string; agents: string; limit: number; now: number }>()((
  k,
  p,
  dialect,
) => {
  const mine =
    dialect === "sqlite"
      ? sql<boolean>`exists (select 1 from json_each(${p.agents}) mine where mine.value ->> 0 = q.agent and (mine.value ->> 1 = q.agent_version or not exists ${otherNode(p)}))`
      : sql<boolean>`exists (select 1 from json_array_elements(${p.agents}::json) mine where mine ->> 0 = q.agent and (mine ->> 1 = q.agent_version or not exists ${otherNode(p)}))`;
  return k
    .with(
      (cte) => cte("due").materialized(),
      (c) =>
        c
          .selectFrom("runs as q")
          .select("q.id")
          .where("q.tenant_id", "=", p.tenant)
          .where("q.state", "=", sql<string>`'queued'`)
          .where("q.ready", "=", sql<number>`1`)
          .where(ownerLives(p))
          .where(mine)
          .orderBy("q.created_at")
          .orderBy("q.id")
          .limit(p.limit)
          .$if(dialect === "postgres", (one) => one.forUpdate().skipLocked()),
    )
    .updateTable("runs")
    .set({
      state: sql<string>`'running'`,
      owner: p.owner,
      fence: sql<number>`fence + 1`,
      attempts: sql<number>`attempts + 1`,
      ready: sql<number>`0`,
      started_at: sql<number>`coalesce(started_at, ${p.now})`,
      event_seq: sql<number>`event_seq + 1`,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "in", (e) => e.selectFrom("due").select("due.id"))
    .returning([
      "id",
      "agent",
      "turn_id",
      "foreground",
      "lane",
      "fence",
      "attempts",
      "stream_id",
      "stream_root",
      "trace_id",
      "origin",
      "reply_to",
      "scope",
      "input_json",
      "limits_json",
      "checkpoint_json",
      "parent_run",
      "event_seq",
      "created_at",
    ]);
});

function otherNode(p: { tenant: string; owner: string; now: number }) {
  return sql`(select 1 from node_agents na join nodes n on n.tenant_id = na.tenant_id and n.boot_id = na.boot_id
    where na.tenant_id = ${p.tenant} and na.agent = q.agent and na.version = q.agent_version
    and n.boot_id <> ${p.owner} and n.ended_at is null and n.lease_until > ${p.now})`;
}

const setDeadline = statement<{ tenant: string; run: string; at: number }>()((k, p) =>
  k.updateTable("runs").set({ deadline_at: p.at }).where("tenant_id", "=", p.tenant).where("id", "=", p.run),
);

/** Takes up to `limit` ready runs, the longest waiting first, one a lane. */
export const claimRuns = command("ledger.claim-runs", function* (input: ClaimInput, env) {
  const rows = yield* all(claim, {
    tenant: input.tenant,
    owner: input.owner,
    agents: JSON.stringify(input.agents.map(({ name, version }) => [name, version])),
    limit: input.limit,
    now: env.now,
  });
  const claimed: (ClaimedRun & { waitedMs: number })[] = [];
  for (const row of rows) {
    const limits = JSON.parse(row.limits_json ?? "{}") as RunLimits;
    const deadlineAt = limits.wallMs === undefined ? null : env.now + limits.wallMs;
    if (deadlineAt !== null) yield* all(setDeadline, { tenant: input.tenant, run: row.id, at: deadlineAt });
    yield* appendEvent(
      input.tenant,
      row.id,
      row.event_seq,
      "claimed",
      { owner: input.owner, fence: row.fence, attempt: row.attempts },
      env.now,
    );
    claimed.push({
      id: row.id,
      agent: row.agent,
      turn: row.turn_id,
      foreground: row.foreground === 1,
      lane: row.lane,
      fence: row.fence,
      attempt: row.attempts,
      stream: row.stream_id,
      streamRoot: row.stream_root,
      trace: row.trace_id,
      origin: row.origin,
      replyTo: row.reply_to,
      scope: row.scope,
      input: JSON.parse(row.input_json) as RunInput,
      limits,
      checkpoint: row.checkpoint_json,
      deadlineAt,
      parent: row.parent_run,
      waitedMs: env.now - row.created_at,
    });
  }
  if (claimed.length > 0) env.reach("claim:before-commit");
  return claimed;
});
