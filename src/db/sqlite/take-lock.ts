import { DatabaseSync } from "node:sqlite";
import { hostname } from "node:os";
import { WaybillError } from "../../kernel/errors.ts";
import { isBusy } from "./sqlite-errors.ts";

/**
 * Holds a store for this process: a second database file beside it, kept in an exclusive transaction. The operating
 * system lets go of it when the process ends in whatever way, so there is no stale lock to clear by hand. Two
 * heartbeats on one SQLite file would each take the other's runs for dead.
 * @returns how to let go
 * @throws WaybillError `data_in_use`, naming the process that holds it
 */
export function takeLock(file: string): () => void {
  const lock = new DatabaseSync(`${file}.lock`);
  try {
    lock.exec("pragma busy_timeout = 250");
    lock.exec("begin exclusive");
  } catch (thrown) {
    lock.close();
    if (!isBusy(thrown)) throw thrown;
    const holder = holderOf(file);
    throw new WaybillError(
      "data_in_use",
      `Another Waybill${holder ? ` (process ${holder.pid} on ${holder.host})` : ""} is using ${file}. ` +
        "Stop it, or choose another folder with --data.",
      holder ?? {},
    );
  }
  return () => {
    lock.exec("rollback");
    lock.close();
  };
}

/** The process that took the store last and has not said that it ended. */
function holderOf(file: string): { pid: number; host: string } | null {
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      const row = db
        .prepare("select pid, host from nodes where ended_at is null order by started_at desc limit 1")
        .get() as { pid: number; host: string } | undefined;
      return row ? { pid: row.pid, host: row.host === hostname() ? "this machine" : row.host } : null;
    } finally {
      db.close();
    }
  } catch {
    return null; // The store is so new that it has no tables: there is nobody to name.
  }
}
