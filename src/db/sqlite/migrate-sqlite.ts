import type { DatabaseSync } from "node:sqlite";
import {
  inDialect,
  migrations,
  migrationsTable,
  outstanding,
  type AppliedMigration,
  type Migration,
} from "../migrate.ts";
import { setStatistics } from "./statistics.ts";

/**
 * Brings the schema up to date, in one transaction that holds the write lock, so two processes cannot do it at once.
 * @throws WaybillError `schema_too_new`
 */
export function migrateSqlite(db: DatabaseSync, known: readonly Migration[] = migrations): void {
  db.exec("begin immediate");
  try {
    db.exec(migrationsTable);
    const applied = db.prepare("select version, name, breaking from migrations order by version").all();
    const steps = outstanding(applied as unknown as AppliedMigration[], known);
    for (const migration of steps) {
      for (const statement of migration.statements) db.exec(inDialect(statement, "sqlite"));
      db.prepare(
        `insert into migrations (version, name, breaking, applied_at)
         values (?, ?, ?, cast(unixepoch('subsec') * 1000 as integer))`,
      ).run(migration.version, migration.name, migration.breaking ? 1 : 0);
    }
    if (steps.length > 0) setStatistics(db);
    db.exec("commit");
  } catch (error) {
    if (db.isTransaction) db.exec("rollback");
    throw error;
  }
}
