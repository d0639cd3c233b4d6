import { sql, type SqlBool } from "kysely";
import { all, type Program } from "../db/command.ts";
import type { Database } from "../db/database.ts";
import { statement, type Statement } from "../db/statement.ts";
import type { Tables } from "../db/tables.ts";
import { isLive, runColumns, toRunRecord, type RunRecord } from "./read-runs.ts";

/**
 * The runs of one place and no other: asked there, due there, or posted there. Live ones come first however many turns
 * followed; then the newest that ended. A conversation's own address does not count its threads, nor the other way
 * round.
 *
 * Each branch is one look into an index of its own; live runs have theirs, since finding the one live run of a
 * conversation among 100,000 that ended is the question that people ask. (A live run has no `posted_in` yet.) One
 * statement with all branches as a union took SQLite 328 microseconds for ten rows, the five alone 50 together.
 */
interface PlaceQuestion {
  tenant: string;
  address: string;
  limit: number;
}

type Branch = { column: "origin" | "reply_to" | "posted_in"; wanted: "live" | "ended" };

const branches: readonly Branch[] = [
  { column: "origin", wanted: "live" },
  { column: "reply_to", wanted: "live" },
  { column: "origin", wanted: "ended" },
  { column: "reply_to", wanted: "ended" },
  { column: "posted_in", wanted: "ended" },
];

type Column = keyof Tables["runs"];

function branchStatements<C extends Column>(columns: readonly C[]) {
  return branches.map(({ column, wanted }) =>
    statement<PlaceQuestion>()((k, p) =>
      k
        .selectFrom("runs")
        .select(columns)
        .where("tenant_id", "=", p.tenant)
        .where(column, "=", p.address)
        // The partial indexes hold only addresses that differ from the one before, so each run comes from one branch.
        .$if(column === "reply_to", (q) => q.where(sql<SqlBool>`reply_to <> origin`))
        .$if(column === "posted_in", (q) =>
          q.where(sql<SqlBool>`posted_in is not null and posted_in <> reply_to`),
        )
        .where(wanted === "live" ? isLive : sql<SqlBool>`finished_at is not null`)
        .orderBy("created_at", "desc")
        .limit(p.limit),
    ),
  );
}

const whole = branchStatements(runColumns);

/** The columns that facts need, without the input of each run. */
const factColumns = [
  "id",
  "agent",
  "state",
  "reason",
  "foreground",
  "progress",
  "created_at",
  "started_at",
  "finished_at",
] as const satisfies readonly Column[];

export type FactRow = Pick<Tables["runs"], (typeof factColumns)[number]>;

const brief = branchStatements(factColumns);

function merged<R extends { id: string; created_at: number; finished_at: number | null }>(
  found: readonly (readonly R[])[],
  limit: number,
): R[] {
  const rank = (row: R): number => (row.finished_at === null ? 0 : 1);
  // A run that was posted where it was asked although it was due elsewhere comes from two branches.
  const rows = new Map(found.flat().map((row) => [row.id, row]));
  return [...rows.values()]
    .toSorted((a, b) => rank(a) - rank(b) || b.created_at - a.created_at)
    .slice(0, limit);
}

async function read<R extends { id: string; created_at: number; finished_at: number | null }>(
  db: Database,
  statements: readonly Statement<PlaceQuestion, R>[],
  question: PlaceQuestion,
): Promise<R[]> {
  return merged(await Promise.all(statements.map((one) => db.read(one, question))), question.limit);
}

/** The runs of a place, live ones first. */
export async function readPlaceRuns(
  db: Database,
  tenant: string,
  address: string,
  limit: number,
): Promise<RunRecord[]> {
  return (await read(db, whole, { tenant, address, limit })).map(toRunRecord);
}

/** The same in the few columns that a run is given as facts. */
export function readPlaceFacts(
  db: Database,
  tenant: string,
  address: string,
  limit: number,
): Promise<FactRow[]> {
  return read(db, brief, { tenant, address, limit });
}

/** The same at once; only where the store has `readNow`. */
export function readPlaceFactsNow(
  readNow: NonNullable<Database["readNow"]>,
  tenant: string,
  address: string,
  limit: number,
): FactRow[] {
  return merged(
    brief.map((one) => readNow(one, { tenant, address, limit })),
    limit,
  );
}

const oneFact = statement<{ tenant: string; address: string; run: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(factColumns)
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where((e) =>
      e.or([e("origin", "=", p.address), e("reply_to", "=", p.address), e("posted_in", "=", p.address)]),
    ),
);

/** One run, if it belongs to the place. */
export async function readPlaceFact(
  db: Database,
  tenant: string,
  address: string,
  run: string,
): Promise<FactRow | null> {
  const [row] = await db.read(oneFact, { tenant, address, run });
  return row ?? null;
}

/** The same inside a command. */
export function* placeRunsNow(question: PlaceQuestion): Program<RunRecord[]> {
  const found = [];
  for (const one of whole) found.push(yield* all(one, question));
  return merged(found, question.limit).map(toRunRecord);
}
