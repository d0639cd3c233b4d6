import type { Pool } from "pg";
import { WaybillError } from "../../kernel/errors.ts";
import {
  inDialect,
  migrations,
  migrationsTable,
  outstanding,
  type AppliedMigration,
  type Migration,
} from "../migrate.ts";

/** Any fixed number will do; it names "Waybill's migrations" among the advisory locks of this database. */
const LOCK = 7_929_225_355;

/**
 * Sees that a store which is only read is one of ours, and not changed by a newer program in a breaking way.
 * @throws WaybillError `not_found`, `schema_too_new`
 */
export async function checkPostgresSchema(pool: Pool): Promise<void> {
  const known = await pool.query<{ table: string | null }>("select to_regclass('migrations') as table");
  if (known.rows[0]?.table === null) {
    throw new WaybillError(
      "not_found",
      "This database is not a store of Waybill: no gateway has used it yet.",
    );
  }
  const applied = await pool.query<AppliedMigration>("select version, name, breaking from migrations");
  outstanding(applied.rows, migrations);
}

/**
 * Brings the schema up to date in one transaction. An advisory lock makes a second process wait until the first is
 * done, after which it finds nothing to do.
 * @throws WaybillError `schema_too_new`
 */
export async function migratePostgres(pool: Pool, known: readonly Migration[] = migrations): Promise<void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    await client.query(migrationsTable);
    const applied = await client.query<AppliedMigration>(
      "select version, name, breaking from migrations order by version",
    );
    for (const migration of outstanding(applied.rows, known)) {
      for (const statement of migration.statements) await client.query(inDialect(statement, "postgres"));
      await client.query(
        "insert into migrations (version, name, breaking, applied_at) values ($1, $2, $3, extract(epoch from now()) * 1000)",
        [migration.version, migration.name, migration.breaking ? 1 : 0],
      );
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch((lost: Error) => {
      broken = lost;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
