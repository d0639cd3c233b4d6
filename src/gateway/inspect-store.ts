import { hostname } from "node:os";
import { sql } from "kysely";
import type { Database } from "../db/database.ts";
import { migrations, outstanding, type AppliedMigration } from "../db/migrate.ts";
import { systemClock } from "../kernel/clock.ts";
import { WaybillError } from "../kernel/errors.ts";
import { silentLogger } from "../kernel/logger.ts";
import type { ServerSettings } from "./environment.ts";
import { databaseTarget, openForReading } from "./open-database.ts";

export interface StoreState {
  dialect: Database["dialect"];
  place: string;
  /** The newest step of the schema that was applied. */
  step: number;
  /** Steps that the next start will apply. */
  pending: number;
  /** Processes whose lease has not run out. */
  nodes: { pid: number; here: boolean }[];
}

/**
 * Looks at the store without changing anything.
 * @returns null if there is no store yet
 * @throws WaybillError `store_unavailable`, `schema_too_new`, `missing_package`, `config_invalid`
 */
export async function inspectStore(
  settings: Pick<ServerSettings, "databaseUrl" | "dataDir">,
): Promise<StoreState | null> {
  const target = databaseTarget(settings.databaseUrl, settings.dataDir);
  let db: Database;
  try {
    db = await openForReading(target, silentLogger);
  } catch (thrown) {
    if (thrown instanceof WaybillError && thrown.code === "not_found") return null;
    throw thrown;
  }
  try {
    const applied = await db.query<AppliedMigration>((k) =>
      k
        .selectFrom(sql<AppliedMigration>`migrations`.as("m"))
        .select([
          sql<number>`version`.as("version"),
          sql<string>`name`.as("name"),
          sql<number>`breaking`.as("breaking"),
        ]),
    );
    return {
      dialect: db.dialect,
      place: db.place,
      step: Math.max(0, ...applied.map(({ version }) => version)),
      pending: outstanding(applied, migrations).length,
      nodes: await readNodes(db),
    };
  } finally {
    await db.close();
  }
}

async function readNodes(db: Database): Promise<StoreState["nodes"]> {
  const rows = await db.query((k) =>
    k
      .selectFrom("nodes")
      .select(["pid", "host"])
      .where("ended_at", "is", null)
      .where("lease_until", ">", systemClock.now())
      .orderBy("started_at", "desc"),
  );
  return rows.map(({ pid, host }) => ({ pid, here: host === hostname() }));
}
