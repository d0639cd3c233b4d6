import { sql } from "kysely";
import { all, first, type CommandEnv, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { WaybillError } from "../kernel/errors.ts";
import { appendEvent } from "./events.ts";
import { advanceLane, lockLane } from "./lanes.ts";
import { ownerLives } from "./nodes.ts";
import type { AbortCause, Fence } from "./run.ts";

export type EndState = "completed" | "failed" | "cancelled" | "interrupted";

const holdRun = statement<Fence & { takeOver: number }>()((k, p, dialect) =>
  k
    .selectFrom("runs")
    .select(["state", "abort_cause", "reason", "lane", "foreground", "turn_id", "parent_run"])
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where("owner", "=", p.owner)
    .where("fence", "=", p.fence)
    .where(sql<boolean>`state in ('running', 'waiting')`)
    .where(sql<boolean>`(${p.takeOver} = 1 or ${ownerLives(p)})`)
    .$if(dialect === "postgres", (q) => q.forUpdate()),
);

const endRunRow = statement<{
  tenant: string;
  run: string;
  fence: number;
  state: string;
  reason: string | null;
  usage: string | null;
  postedIn: string | null;
  bump: number;
  now: number;
}>()((k, p) =>
  k
    .updateTable("runs")
    .set({
      state: p.state,
      reason: p.reason,
      usage_json: p.usage,
      posted_in: sql<string | null>`coalesce(${p.postedIn}, posted_in)`,
      finished_at: p.now,
      ready: sql.lit(0),
      fence: sql<number>`fence + ${p.bump}`,
      event_seq: sql<number>`event_seq + 1`,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where("fence", "=", p.fence)
    .returning("event_seq"),
);

/** What a live run is, seen under its fence. */
export interface HeldRun {
  state: string;
  abortCause: AbortCause | null;
  reason: string | null;
  lane: string;
  foreground: boolean;
  turn: string;
  parent: string | null;
}

/**
 * Takes hold of a live run for the rest of the command.
 * @throws WaybillError `run_lost` if it has ended or somebody else has it: the caller must stop its work.
 */
export function* hold(fence: Fence, takeOver = false): Program<HeldRun> {
  const row = yield* first(holdRun, { ...fence, takeOver: takeOver ? 1 : 0 });
  if (!row) {
    throw new WaybillError(
      "run_lost",
      `The run ${fence.run} is no longer this process's to write; its work is discarded.`,
      {
        run: fence.run,
      },
    );
  }
  return {
    state: row.state,
    abortCause: row.abort_cause as AbortCause | null,
    reason: row.reason,
    lane: row.lane,
    foreground: row.foreground === 1,
    turn: row.turn_id,
    parent: row.parent_run,
  };
}

export interface RunEnd {
  state: EndState;
  reason: string | null;
  /** For operators; it stands in the run's last event. */
  detail: string | null;
  usage: Record<string, unknown> | null;
  postedIn: string | null;
  /** True where somebody else ends it for a dead node. */
  bumpFence: boolean;
}

/**
 * Ends a run that `hold` gave, and lets the next one of its lane begin, which a foreground run's command has locked.
 * Part of a larger command.
 */
export function* endRun(fence: Fence, held: HeldRun, end: RunEnd, env: CommandEnv): Program<string | null> {
  const row = yield* first(endRunRow, {
    tenant: fence.tenant,
    run: fence.run,
    fence: fence.fence,
    state: end.state,
    reason: end.reason,
    usage: end.usage === null ? null : JSON.stringify(end.usage),
    postedIn: end.postedIn,
    bump: end.bumpFence ? 1 : 0,
    now: env.now,
  });
  yield* appendEvent(fence.tenant, fence.run, row?.event_seq ?? 0, end.state, eventData(end), env.now);
  return held.foreground ? yield* advanceLane(fence.tenant, held.lane) : null;
}

function eventData(end: RunEnd): Record<string, unknown> {
  return { reason: end.reason, ...(end.detail === null ? {} : { detail: end.detail }) };
}

/** The end state that a stored cause stands for; it was stored before the signal was given. */
export function endOfCause(cause: AbortCause): EndState {
  switch (cause) {
    case "cancel":
    case "parent":
      return "cancelled";
    case "deadline":
    case "limit":
      return "failed";
    case "shutdown":
    case "lease_lost":
      return "interrupted";
  }
}

const stagedOf = statement<{ tenant: string; parent: string }>()((k, p, dialect) =>
  k
    .selectFrom("runs")
    .select("id")
    .where("tenant_id", "=", p.tenant)
    .where("parent_run", "=", p.parent)
    .where(sql<boolean>`state = 'staged'`)
    .$if(dialect === "postgres", (q) => q.forUpdate()),
);

const releaseStaged = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .updateTable("runs")
    .set({ state: sql.lit("queued"), ready: sql.lit(1), event_seq: sql<number>`event_seq + 1` })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where(sql<boolean>`state = 'staged'`)
    .returning("event_seq"),
);

const cancelUnstarted = statement<{
  tenant: string;
  run: string;
  reason: string;
  cause: string;
  now: number;
}>()((k, p) =>
  k
    .updateTable("runs")
    .set({
      state: sql.lit("cancelled"),
      ready: sql.lit(0),
      reason: p.reason,
      abort_cause: p.cause,
      finished_at: p.now,
      event_seq: sql<number>`event_seq + 1`,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where(sql<boolean>`state in ('staged', 'queued')`)
    .returning(["event_seq", "lane", "foreground"]),
);

/** Jobs that a run asked for become claimable, in the transaction that commits what acknowledged them. */
export function* releaseJobs(tenant: string, parent: string, now: number): Program<string[]> {
  const staged = yield* all(stagedOf, { tenant, parent });
  for (const job of staged) {
    const row = yield* first(releaseStaged, { tenant, run: job.id });
    if (row) yield* appendEvent(tenant, job.id, row.event_seq, "released", null, now);
  }
  return staged.map((job) => job.id);
}

/** Jobs that nobody was told of never start: their parent ended without a committed message. */
export function* cancelJobs(tenant: string, parent: string, env: CommandEnv): Program<string[]> {
  const staged = yield* all(stagedOf, { tenant, parent });
  for (const job of staged) {
    yield* cancelBeforeStart(tenant, job.id, "parent", "parent", env);
  }
  return staged.map((job) => job.id);
}

/** Cancels a run that has not started. @returns false if it has, or has ended. */
export function* cancelBeforeStart(
  tenant: string,
  run: string,
  reason: string,
  cause: AbortCause,
  env: CommandEnv,
): Program<boolean> {
  const row = yield* first(cancelUnstarted, { tenant, run, reason, cause, now: env.now });
  if (!row) return false;
  yield* appendEvent(tenant, run, row.event_seq, "cancelled", { reason, cause }, env.now);
  if (row.foreground === 1) {
    yield* lockLane(tenant, row.lane, env);
    yield* advanceLane(tenant, row.lane);
  }
  return true;
}
