import { sql, type Kysely, type SqlBool } from "kysely";
import { statement, type Dialect } from "../db/statement.ts";
import type { Database } from "../db/database.ts";
import type { Tables } from "../db/tables.ts";
import { relatedId } from "../kernel/ids.ts";
import type { RunLimits, RunState } from "./run.ts";

/** A run as the ledger tells it. Times are milliseconds since 1970. */
export interface RunRecord {
  id: string;
  agent: string;
  agentVersion: string;
  state: RunState;
  reason: string | null;
  abortCause: string | null;
  turn: string;
  foreground: boolean;
  parent: string | null;
  root: string;
  stream: string;
  streamRoot: string;
  trace: string;
  /** Where it was asked, where its answer is due, where it was really posted. */
  origin: string;
  replyTo: string;
  postedIn: string | null;
  attempts: number;
  fence: number;
  owner: string | null;
  progress: string | null;
  progressPercent: number | null;
  usage: Record<string, unknown> | null;
  limits: RunLimits;
  text: string;
  sender: { id: string; name: string | null } | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  deadlineAt: number | null;
}

export const runColumns = [
  "id",
  "agent",
  "agent_version",
  "state",
  "reason",
  "abort_cause",
  "turn_id",
  "foreground",
  "parent_run",
  "root_run",
  "stream_id",
  "stream_root",
  "trace_id",
  "origin",
  "reply_to",
  "posted_in",
  "attempts",
  "fence",
  "owner",
  "progress",
  "progress_percent",
  "usage_json",
  "limits_json",
  "input_json",
  "created_at",
  "started_at",
  "finished_at",
  "deadline_at",
] as const;

export type RunRow = Pick<Tables["runs"], (typeof runColumns)[number]>;

export function toRunRecord(row: RunRow): RunRecord {
  const input = JSON.parse(row.input_json) as { text?: string; sender?: { id: string; name: string | null } };
  return {
    id: row.id,
    agent: row.agent,
    agentVersion: row.agent_version,
    state: row.state as RunState,
    reason: row.reason,
    abortCause: row.abort_cause,
    turn: row.turn_id,
    foreground: row.foreground === 1,
    parent: row.parent_run,
    root: row.root_run,
    stream: row.stream_id,
    streamRoot: row.stream_root,
    trace: row.trace_id,
    origin: row.origin,
    replyTo: row.reply_to,
    postedIn: row.posted_in,
    attempts: row.attempts,
    fence: row.fence,
    owner: row.owner,
    progress: row.progress,
    progressPercent: row.progress_percent,
    usage: row.usage_json === null ? null : (JSON.parse(row.usage_json) as Record<string, unknown>),
    limits: JSON.parse(row.limits_json ?? "{}") as RunLimits,
    text: input.text ?? "",
    sender: input.sender ?? null,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    deadlineAt: row.deadline_at,
  };
}

/** Staged, queued, running or waiting. The indexes of live runs say it in these words. */
export const isLive = sql<SqlBool>`finished_at is null`;

const byId = statement<{ tenant: string; run: string }>()((k, p) =>
  k.selectFrom("runs").select(runColumns).where("tenant_id", "=", p.tenant).where("id", "=", p.run),
);

export async function readRun(db: Database, tenant: string, run: string): Promise<RunRecord | null> {
  const [row] = await db.read(byId, { tenant, run });
  return row ? toRunRecord(row) : null;
}

const byNestedStream = statement<{ tenant: string; stream: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(runColumns)
    .where("tenant_id", "=", p.tenant)
    .where("stream_id", "=", p.stream)
    .where(sql<SqlBool>`root_run <> id`),
);

export async function readRunOfStream(
  db: Database,
  tenant: string,
  stream: string,
): Promise<RunRecord | null> {
  const [row] = await db.read(byId, { tenant, run: relatedId(stream, "run") });
  if (row?.stream_id === stream) return toRunRecord(row);
  const [nested] = await db.read(byNestedStream, { tenant, stream });
  return nested ? toRunRecord(nested) : null;
}

export interface RunFilter {
  states?: readonly string[];
  agent?: string;
  address?: string;
  turn?: string;
  trace?: string;
  parent?: string;
  /** Only runs whose question, or the name or id of who asked, has this in it; small and capital letters are the same. */
  text?: string;
  /** Only runs before this one in the order of the list (newest first). */
  before?: { createdAt: number; id: string };
  limit: number;
}

/** Runs, newest first, for lists. */
export async function listRuns(db: Database, tenant: string, filter: RunFilter): Promise<RunRecord[]> {
  const rows = await db.query((k: Kysely<Tables>, dialect) => {
    let q = k.selectFrom("runs").select(runColumns).where("tenant_id", "=", tenant);
    if (filter.states?.length) q = q.where("state", "in", filter.states);
    if (filter.agent !== undefined) q = q.where("agent", "=", filter.agent);
    if (filter.turn !== undefined) q = q.where("turn_id", "=", filter.turn);
    if (filter.trace !== undefined) {
      const { trace } = filter;
      q = q.where((e) =>
        e.or([
          e.and([e("id", "=", relatedId(trace, "run")), e("trace_id", "=", trace)]),
          e.and([e("caused_by", "is not", null), e("trace_id", "=", trace)]),
        ]),
      );
    }
    if (filter.text !== undefined) q = q.where(hasText(dialect, filter.text));
    if (filter.parent !== undefined) q = q.where("parent_run", "=", filter.parent);
    if (filter.address !== undefined) {
      const { address } = filter;
      q = q.where((e) =>
        e.or([e("origin", "=", address), e("reply_to", "=", address), e("posted_in", "=", address)]),
      );
    }
    if (filter.before) {
      const { createdAt, id } = filter.before;
      q = q.where((e) =>
        e.or([e("created_at", "<", createdAt), e.and([e("created_at", "=", createdAt), e("id", "<", id)])]),
      );
    }
    return q.orderBy("created_at", "desc").orderBy("id", "desc").limit(filter.limit);
  });
  return rows.map(toRunRecord);
}

/** `input_json` is JSON in a text column, so that SQLite and Postgres keep the same. No index: lists are read by people. */
function hasText(dialect: Dialect, text: string) {
  const pattern = `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const asked = dialect === "sqlite" ? sql`input_json` : sql`cast(input_json as json)`;
  const like = dialect === "sqlite" ? sql`like` : sql`ilike`;
  const fields = [
    sql`${asked} ->> 'text'`,
    sql`(${asked} -> 'sender') ->> 'name'`,
    sql`(${asked} -> 'sender') ->> 'id'`,
  ];
  return sql<SqlBool>`(${sql.join(
    fields.map((field) => sql`(${field}) ${like} ${pattern} escape '\\'`),
    sql` or `,
  )})`;
}
