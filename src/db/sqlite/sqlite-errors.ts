import { WaybillError } from "../../kernel/errors.ts";

/** Result codes of SQLite that mean something to a user (sqlite.org/rescode.html, primary codes). */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

interface SqliteError extends Error {
  errcode: number;
}

function isSqliteError(thrown: unknown): thrown is SqliteError {
  return thrown instanceof Error && typeof (thrown as Partial<SqliteError>).errcode === "number";
}

/** True if another connection holds what was asked for. */
export function isBusy(thrown: unknown): boolean {
  return isSqliteError(thrown) && (thrown.errcode & 0xff) === BUSY;
}

/** What SQLite threw, as an error with a code; anything else is given back as it is. */
export function fromSqlite(thrown: unknown, file: string): unknown {
  if (!isSqliteError(thrown)) return thrown;
  switch (thrown.errcode & 0xff) {
    case FULL:
      return new WaybillError(
        "store_full",
        `The disk of ${file} is full. Free some space; what was accepted before is safe.`,
        {},
        thrown,
      );
    case READONLY:
    case CANTOPEN:
      return new WaybillError(
        "data_folder_unusable",
        `The database ${file} cannot be written (${thrown.message}). Check that the folder exists and belongs to this user.`,
        {},
        thrown,
      );
    case CORRUPT:
    case NOTADB:
      return new WaybillError(
        "store_unavailable",
        `The database ${file} is damaged (${thrown.message}). Nothing was changed; restore a backup or move the file away.`,
        {},
        thrown,
      );
    case BUSY:
    case IOERR:
      return new WaybillError(
        "store_unavailable",
        `The database ${file} does not answer (${thrown.message}).`,
        {},
        thrown,
      );
    default:
      return thrown;
  }
}
