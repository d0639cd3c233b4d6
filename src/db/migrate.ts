import { WaybillError } from "../kernel/errors.ts";
import type { Dialect } from "./statement.ts";
import { core } from "./migrations/0001-core.ts";

/**
 * One step of the schema, forward only. `breaking`: a program that does not know this step must not use the store
 * any more (a column it needs is gone, or it would write what newer ones cannot read).
 */
export interface Migration {
  version: number;
  name: string;
  breaking: boolean;
  statements: readonly string[];
}

export const migrations: readonly Migration[] = [core];

const words: Record<Dialect, Record<string, string>> = {
  sqlite: {
    int: "integer",
    bytes: "blob",
    identity: "integer primary key autoincrement",
    clustered: " without rowid",
  },
  postgres: {
    int: "bigint",
    bytes: "bytea",
    identity: "bigint generated always as identity primary key",
    clustered: "",
  },
};

/** A statement of a migration in the words of a dialect. */
export function inDialect(statement: string, dialect: Dialect): string {
  return statement.replaceAll(/\{(\w+)\}/g, (whole, word: string) => words[dialect][word] ?? whole);
}

export const migrationsTable = `create table if not exists migrations (
  version integer primary key, name text not null, breaking integer not null, applied_at bigint not null)`;

export interface AppliedMigration {
  version: number;
  name: string;
  breaking: number;
}

/**
 * What is still to be applied.
 * @throws WaybillError `schema_too_new` if the store has a breaking step that this program does not know.
 */
export function outstanding(applied: readonly AppliedMigration[], known: readonly Migration[]): Migration[] {
  const newest = Math.max(0, ...known.map((m) => m.version));
  const foreign = applied.find((m) => m.version > newest && m.breaking === 1);
  if (foreign) {
    throw new WaybillError(
      "schema_too_new",
      `The store was changed by a newer Waybill (step ${foreign.version}, "${foreign.name}"), which this one cannot use. ` +
        "Install that version or a newer one; nothing was touched.",
      { version: foreign.version, known: newest },
    );
  }
  const done = new Set(applied.map((m) => m.version));
  return known.filter((m) => !done.has(m.version));
}
