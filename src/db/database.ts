import type { Compilable, Kysely } from "kysely";
import type { Command } from "./command.ts";
import type { Dialect, Statement } from "./statement.ts";
import type { Tables } from "./tables.ts";

/**
 * The store. Writes are commands, reads are statements or queries; nobody else holds a connection.
 */
export interface Database {
  readonly dialect: Dialect;
  /** Where it is, without user names and passwords: a path, or host and database name. */
  readonly place: string;
  /**
   * Does one command as one transaction. Commands that are given in the same moment run in the order given and, on
   * SQLite, share one commit.
   * @throws WaybillError what the command refused with, or `store_unavailable`, `store_full`, `internal` for a defect,
   *   `shutting_down` after `close`.
   */
  do<I, O>(command: Command<I, O>, input: I): Promise<O>;
  /** Runs a prepared read. It sees everything whose command has resolved. */
  read<P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]>;
  /**
   * The same at once, where the store can (SQLite). What is asked for only if somebody looks need not be asked then.
   */
  readNow?<P, R>(statement: Statement<P, R>, parameters: P): R[];
  /** Runs a read that is built for this call (lists with filters). */
  query<R>(build: (k: Kysely<Tables>, dialect: Dialect) => Compilable<R>): Promise<R[]>;
  /** Tells other processes of this store that something changed; `topic` is short. Does nothing with one process. */
  notify(topic: string): void;
  /** Hears what other processes tell. Returns how to stop. */
  listen(hear: (topic: string) => void): () => void;
  /** Resolves if the store answers. @throws `store_unavailable` */
  ping(): Promise<void>;
  /** Finishes what was given, then closes. */
  close(): Promise<void>;
}

/** What is known of a store before it is opened. */
export interface DatabaseTarget {
  dialect: Dialect;
  /** SQLite: the file. Postgres: the connection URL. */
  url: string;
}
