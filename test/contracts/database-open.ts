import { tmpdir } from "node:os";
import type { Database } from "../../src/db/database.ts";
import { openPostgres } from "../../src/db/postgres/open-postgres.ts";
import { openSqlite } from "../../src/db/sqlite/open-sqlite.ts";
import { databaseTarget, openForReading } from "../../src/gateway/open-database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLogger } from "../../src/kernel/logger.ts";

const commandsUrl = new URL("./database-commands.ts", import.meta.url).href;

/** Opens a store with the commands of this contract. */
export function openStore(databaseUrl: string): Promise<Database> {
  const target = databaseTarget(databaseUrl, tmpdir());
  const common = { clock: systemClock, log: silentLogger };
  if (target.dialect === "postgres") return openPostgres({ url: target.url, ...common });
  return openSqlite({ file: target.url, commandsUrl, ...common });
}

export function openReader(databaseUrl: string): Promise<Database> {
  return openForReading(databaseTarget(databaseUrl, tmpdir()), silentLogger);
}
