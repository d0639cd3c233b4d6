import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { DatabaseTarget } from "../../src/db/database.ts";

/** On Postgres a dead node's lease has to run out; this is that, without the wait. On SQLite there is nothing to wait for. */
export async function endLeases({ dialect, url }: DatabaseTarget): Promise<void> {
  const sql = "update nodes set lease_until = 1 where ended_at is null";
  if (dialect === "sqlite") {
    if (!existsSync(url)) return;
    const db = new DatabaseSync(url);
    db.exec("pragma busy_timeout = 5000");
    db.exec(sql);
    db.close();
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
