/** A process that opens a store, which migrates it, and says how that went. Started by migrations.test.ts with the URL. */
import { tmpdir } from "node:os";
import { databaseTarget } from "../../src/gateway/open-database.ts";
import { migratePostgres } from "../../src/db/postgres/migrate-postgres.ts";
import { migrateSqlite } from "../../src/db/sqlite/migrate-sqlite.ts";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";

const target = databaseTarget(process.argv[2], tmpdir());
// Everybody begins in the same moment: when the parent says so.
process.send?.("ready");
process.once("message", () => void migrate());

async function migrate(): Promise<void> {
  try {
    if (target.dialect === "postgres") {
      const pool = new pg.Pool({ connectionString: target.url });
      await migratePostgres(pool);
      await pool.end();
    } else {
      const db = new DatabaseSync(target.url);
      // Not in WAL mode: changing a fresh file to it does not wait for others (the gateway's lock file keeps them out).
      db.exec("pragma busy_timeout = 10000");
      migrateSqlite(db);
      db.close();
    }
    process.send?.("migrated");
  } catch (error) {
    process.send?.(`failed: ${String(error)}`);
  }
  process.disconnect();
}
