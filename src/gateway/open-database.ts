import { join } from "node:path";
import { openPostgres } from "../db/postgres/open-postgres.ts";
import { openSqlite, openSqliteReadOnly } from "../db/sqlite/open-sqlite.ts";
import type { Database, DatabaseTarget } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { CrashPlan } from "../kernel/crash-points.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { Logger } from "../kernel/logger.ts";

/**
 * Where the store is: `WAYBILL_DATABASE_URL` (`postgres://...`, `file:...` or a path), else a file in the data folder.
 * @throws WaybillError `config_invalid` for a URL of another kind
 */
export function databaseTarget(url: string | undefined, dataDir: string): DatabaseTarget {
  if (url === undefined || url === "") return { dialect: "sqlite", url: join(dataDir, "waybill.db") };
  if (/^postgres(ql)?:\/\//.test(url)) return { dialect: "postgres", url };
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === "file" || scheme === "sqlite") {
    return { dialect: "sqlite", url: url.replace(/^[a-z]+:(\/\/(?=\/))?/i, "") };
  }
  if (scheme === undefined || scheme.length === 1) return { dialect: "sqlite", url };
  throw new WaybillError(
    "config_invalid",
    `WAYBILL_DATABASE_URL: ${scheme}: is not a store that Waybill knows. Use postgres://..., or file:path for SQLite.`,
    { field: "WAYBILL_DATABASE_URL" },
  );
}

export interface OpenOptions {
  clock: Clock;
  log: Logger;
  crash?: CrashPlan | null;
  onLost?: (error: WaybillError) => void;
}

/** Opens the store for a gateway. */
export function openDatabase(target: DatabaseTarget, options: OpenOptions): Promise<Database> {
  if (target.dialect === "postgres") return openPostgres({ url: target.url, ...options });
  return openSqlite({ file: target.url, ...options });
}

/** Opens the store for looking only: the command line without a server. */
export async function openForReading(target: DatabaseTarget, log: Logger): Promise<Database> {
  if (target.dialect === "sqlite") return openSqliteReadOnly(target.url);
  return openPostgres({ url: target.url, log, readOnly: true });
}
