import type { Client, Pool, PoolClient } from "pg";
import { killAt, noCrash, type CrashPlan, type ReachCrashPoint } from "../../kernel/crash-points.ts";
import { asWaybillError, WaybillError } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Command } from "../command.ts";
import type { Database } from "../database.ts";
import { compilerOf, type Statement } from "../statement.ts";
import { fromPostgres, isWorthAnotherTry } from "./postgres-errors.ts";
import { checkPostgresSchema, migratePostgres } from "./migrate-postgres.ts";
import { Notifications } from "./notifications.ts";

export interface PostgresOptions {
  url: string;
  log: Logger;
  crash?: CrashPlan | null;
  /** Connections at most. Default 12. */
  connections?: number;
  /** Nothing is migrated and commands are refused. */
  readOnly?: boolean;
}

const ATTEMPTS = 6;

type Pg = typeof import("pg");

async function loadPg(): Promise<Pg> {
  try {
    const loaded = (await import("pg")) as Pg & { default?: Pg };
    return loaded.default ?? loaded;
  } catch (cause) {
    throw new WaybillError(
      "missing_package",
      "Postgres needs the package pg: npm install pg",
      { package: "pg" },
      cause,
    );
  }
}

/** 64 bit numbers are times and counts here, far below 2^53; pg gives them as text unless it is told. */
const INT8 = 20;

/**
 * Opens (and brings up to date) a Postgres store.
 * @throws WaybillError `store_unavailable`, `schema_too_new`, `missing_package`; read-only `not_found` for one that is empty
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const pg = await loadPg();
  const types = {
    getTypeParser: ((oid: number, format?: "text" | "binary") =>
      oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
  };
  const settings = { connectionString: options.url, types, application_name: "waybill", keepAlive: true };
  const pool = new pg.Pool({
    ...settings,
    max: options.connections ?? 12,
    connectionTimeoutMillis: 5_000,
    // A server whose packets are dropped never answers and never hangs up; a beat or a stop must not wait for TCP.
    query_timeout: 30_000,
  });
  // A connection that dies while idle is the pool's to replace; without a listener it would end the process.
  pool.on("error", (error) => options.log.warn({ error: error.message }, "a Postgres connection was lost"));
  // The same for one that dies inside a transaction: the pool listens to idle ones only, and whoever waits for the
  // query is told by its rejection.
  pool.on("connect", (client) => client.on("error", () => {}));
  try {
    await (options.readOnly ? checkPostgresSchema(pool) : migratePostgres(pool));
  } catch (thrown) {
    await pool.end();
    throw fromPostgres(thrown, placeOf(options.url));
  }
  const notifications = new Notifications(() => new pg.Client(settings) as Client, pool, options.log);
  const reach = options.crash ? killAt(options.crash) : noCrash;
  return postgresDatabase(pool, notifications, reach, options);
}

/** Host and database name of a connection URL, without user and password. */
function placeOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return "postgres";
  }
}

function postgresDatabase(
  pool: Pool,
  notifications: Notifications,
  reach: ReachCrashPoint,
  options: PostgresOptions,
): Database {
  const place = placeOf(options.url);
  let closing: Promise<void> | null = null;
  const underWay = new Set<Promise<unknown>>();
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing) throw new WaybillError("shutting_down", `The database ${place} was closed.`);
    const working = work();
    underWay.add(working);
    try {
      return await working;
    } catch (thrown) {
      throw fromPostgres(thrown, place);
    } finally {
      underWay.delete(working);
    }
  };
  return {
    dialect: "postgres",
    place,
    do: <I, O>(command: Command<I, O>, input: I) => {
      if (options.readOnly) {
        return Promise.reject(new WaybillError("no_server", "This store was opened for reading only."));
      }
      return guard(() => transaction(pool, command, input, reach)).catch((thrown: unknown) => {
        throw asFailure(options.log, command.name, thrown);
      });
    },
    read: <P, R>(statement: Statement<P, R>, parameters: P) =>
      guard(async () => (await pool.query(queryOf(statement, parameters))).rows as R[]),
    query: (build) =>
      guard(async () => {
        const query = build(compilerOf("postgres"), "postgres").compile();
        return (await pool.query(query.sql, [...query.parameters])).rows as never[];
      }),
    notify: (topic) => notifications.notify(topic),
    listen: (hear) => notifications.listen(hear),
    ping: () =>
      guard(async () => {
        await pool.query("select 1");
      }),
    close() {
      // The pool forgets whoever still waits for a connection when it ends.
      closing ??= Promise.allSettled(underWay)
        .then(() => notifications.close())
        .then(() => pool.end());
      return closing;
    },
  };
}

/** What a command refused with passes; a statement that fails, or a defect of ours, is logged and gets a code. */
function asFailure(log: Logger, command: string, thrown: unknown): WaybillError {
  const error = asWaybillError(thrown);
  if (error !== thrown) {
    const cause = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    log.error({ command, cause }, "a command failed");
  }
  return error;
}

function queryOf<P, R>(
  statement: Statement<P, R>,
  parameters: P,
): { name: string; text: string; values: unknown[] } {
  return {
    name: statement.name,
    text: statement.compiled("postgres").sql,
    values: statement.bind("postgres", parameters),
  };
}

/** One command as one transaction; a deadlock or a serialization failure is tried again, since nothing of it happened. */
async function transaction<I, O>(
  pool: Pool,
  command: Command<I, O>,
  input: I,
  reach: ReachCrashPoint,
): Promise<O> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      return await runCommand(client, command, input, reach);
    } catch (thrown) {
      await client.query("rollback").catch((error: Error) => {
        broken = error;
      });
      if (attempt >= ATTEMPTS || !isWorthAnotherTry(thrown)) throw thrown;
    } finally {
      client.release(broken);
    }
  }
}

async function runCommand<I, O>(
  client: PoolClient,
  command: Command<I, O>,
  input: I,
  reach: ReachCrashPoint,
): Promise<O> {
  // One round trip opens the transaction and asks for the time that all nodes share.
  const opened = (await client.query(
    "begin; select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now",
  )) as unknown as { rows: { now: number }[] }[];
  const now = opened[1]?.rows[0]?.now ?? 0;
  const program = command.run(input, { dialect: "postgres", now, reach });
  let next = program.next();
  while (!next.done) {
    const { statement, parameters } = next.value;
    const { rows } = await client.query(queryOf(statement, parameters as never));
    next = program.next(rows as unknown[]);
  }
  await client.query("commit");
  return next.value;
}
