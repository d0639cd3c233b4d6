import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Worker } from "node:worker_threads";
import type { Clock } from "../../kernel/clock.ts";
import type { CrashPlan } from "../../kernel/crash-points.ts";
import { asWaybillError, fromErrorRecord, WaybillError, type ErrorRecord } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Command } from "../command.ts";
import type { Database } from "../database.ts";
import { migrations, outstanding, type AppliedMigration } from "../migrate.ts";
import { compilerOf, type Statement } from "../statement.ts";
import { Prepared } from "./run-command.ts";
import { fromSqlite } from "./sqlite-errors.ts";
import { plainThread, writerFiles } from "./writer-files.ts";
import type { FromWriter, ToWriter, WriterData, WriterResult } from "./writer-thread.ts";

export interface SqliteOptions {
  file: string;
  /** The module whose export `commands` is the registry; the writer thread imports it. Default: all commands. */
  commandsUrl?: string;
  clock: Clock;
  log: Logger;
  crash?: CrashPlan | null;
  /** Told once when the writer is lost; nothing can be written any more. */
  onLost?: (error: WaybillError) => void;
}

interface Waiting {
  name: string;
  input: unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Commands of one message to the writer at most. While it commits one part this thread takes in what came of the part
 * before; with all of a moment in one message the two threads only ever took turns (3,800 turns/s, now 4,600).
 */
const PART_MOST = 32;

/**
 * The main thread's end of the writer: sends the commands of one turn of the event loop together. The writer joins all
 * that has come while it was committing, so the busier it is, the more share a commit.
 */
class WriterQueue {
  readonly #worker: Worker;
  readonly #options: SqliteOptions;
  #next: Waiting[] = [];
  /** Sent and not answered, in the order in which they will be answered. */
  readonly #sent: Waiting[] = [];
  #answered = 0;
  #lost: WaybillError | null = null;
  #drained: (() => void)[] = [];

  constructor(worker: Worker, options: SqliteOptions) {
    this.#worker = worker;
    this.#options = options;
  }

  push(name: string, input: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#lost) {
        reject(this.#lost);
        return;
      }
      if (this.#next.length === 0) setImmediate(() => this.#send());
      this.#next.push({ name, input, resolve, reject });
    });
  }

  #send(): void {
    while (this.#next.length > 0) {
      const part = this.#next.slice(0, PART_MOST);
      const message: ToWriter = {
        kind: "batch",
        now: this.#options.clock.now(),
        commands: part.map(({ name, input }) => ({ name, input })),
      };
      try {
        this.#worker.postMessage(message);
      } catch (cause) {
        this.#sendApart(cause);
        return;
      }
      this.#sent.push(...part);
      this.#next = this.#next.slice(part.length);
    }
  }

  /** One input of the batch cannot cross to the thread: its caller is told, and the others go on without it. */
  #sendApart(cause: unknown): void {
    const [crossing, stuck] = [[] as Waiting[], [] as Waiting[]];
    for (const waiting of this.#next) (canCross(waiting.input) ? crossing : stuck).push(waiting);
    for (const { name, reject } of stuck) {
      this.#options.log.error({ command: name, cause: String(cause) }, "a command's input is not plain data");
      reject(asWaybillError(cause));
    }
    this.#next = crossing;
    if (stuck.length > 0) this.#send();
  }

  done(results: WriterResult[]): void {
    for (const result of results) {
      const waiting = this.#sent[this.#answered];
      this.#answered += 1;
      if (!waiting) continue;
      if ("value" in result) waiting.resolve(result.value);
      else waiting.reject(this.#asError(waiting.name, result));
    }
    if (this.#answered < this.#sent.length && this.#answered < 4_096) return;
    this.#sent.splice(0, this.#answered);
    this.#answered = 0;
    if (this.#idle) for (const resolve of this.#drained.splice(0)) resolve();
  }

  get #idle(): boolean {
    return this.#sent.length === 0 && this.#next.length === 0;
  }

  #asError(name: string, failed: { error: ErrorRecord; cause?: string }): WaybillError {
    if (failed.cause) this.#options.log.error({ command: name, cause: failed.cause }, "a command failed");
    return fromErrorRecord(failed.error);
  }

  /** From now on nothing is taken; who waits is told. */
  lose(error: WaybillError): void {
    this.#lost ??= error;
    for (const waiting of [...this.#sent.slice(this.#answered), ...this.#next]) waiting.reject(error);
    this.#sent.length = 0;
    this.#answered = 0;
    this.#next = [];
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Resolves when nothing is waiting any more. */
  async drained(): Promise<void> {
    if (!this.#idle) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }
}

function closed(file: string): WaybillError {
  return new WaybillError("shutting_down", `The store ${file} was closed.`);
}

function canCross(input: unknown): boolean {
  try {
    structuredClone(input);
    return true;
  } catch {
    return false;
  }
}

/**
 * Opens (and makes, and brings up to date) a SQLite store.
 * @throws WaybillError `data_in_use`, `data_folder_unusable`, `schema_too_new`, `store_unavailable`
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  makeFolder(options.file);
  const data: WriterData = {
    file: options.file,
    commandsUrl: options.commandsUrl ?? writerFiles.commands,
    crash: options.crash ?? null,
  };
  const worker = new Worker(new URL(options.commandsUrl === undefined ? writerFiles.thread : plainThread), {
    workerData: data,
  });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  // One promise, not a race of two: a writer that refuses says so and exits in the same moment, and its word must win.
  const first = await new Promise<FromWriter | null>((resolve) => {
    worker.once("message", resolve);
    worker.once("exit", () => resolve(null));
  });
  if (first?.kind !== "ready") {
    await exited; // Its lock goes with it.
    if (first?.kind === "refused") throw fromErrorRecord(first.error);
    throw new WaybillError("store_unavailable", "The writer thread of the store did not start.");
  }
  const queue = new WriterQueue(worker, options);
  let ended = false;
  const lose = (cause: unknown): void => {
    if (ended) return;
    ended = true;
    const text = "The writer of the store ended; restart Waybill.";
    const error = new WaybillError("store_unavailable", text, {}, cause);
    queue.lose(error);
    options.onLost?.(error);
  };
  worker.on("message", (message: FromWriter) => {
    if (message.kind === "done") queue.done(message.results);
  });
  worker.on("error", lose);
  worker.on("exit", lose);
  const close = async (closeReader: () => void): Promise<void> => {
    await queue.drained();
    // The writer goes last: the last connection moves the log into the file, which can then be copied by itself.
    closeReader();
    if (!ended) worker.postMessage({ kind: "close" } satisfies ToWriter);
    ended = true;
    queue.lose(closed(options.file));
    await exited;
  };
  return sqliteDatabase(options.file, (name, input) => queue.push(name, input), close);
}

/**
 * Opens a SQLite store for reading only, beside a live gateway or without one. Commands are refused.
 * @throws WaybillError `not_found` if there is no such store, `schema_too_new`, `store_unavailable`
 */
export function openSqliteReadOnly(file: string): Database {
  if (!existsSync(file)) throw new WaybillError("not_found", `There is no store at ${file}.`);
  const refuse = (): Promise<never> =>
    Promise.reject(new WaybillError("no_server", "No gateway is running here; start it with: waybill start"));
  return sqliteDatabase(file, refuse, async (closeReader) => closeReader());
}

function makeFolder(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new WaybillError(
      "data_folder_unusable",
      `The data folder ${dirname(file)} cannot be made (${(cause as Error).message}). Choose another with --data.`,
      {},
      cause,
    );
  }
}

/** Reads go through a second connection on the main thread: WAL readers never wait for the writer. */
function sqliteDatabase(
  file: string,
  write: (name: string, input: unknown) => Promise<unknown>,
  closeWriter: (closeReader: () => void) => Promise<void>,
): Database {
  const reader = openReader(file);
  const prepared = new Prepared(reader);
  const attempt = <T>(read: () => T): Promise<T> => {
    if (!reader.isOpen) return Promise.reject(closed(file));
    try {
      return Promise.resolve(read());
    } catch (thrown) {
      return Promise.reject(fromSqlite(thrown, file) as Error);
    }
  };
  return {
    dialect: "sqlite",
    place: file,
    do: <I, O>(command: Command<I, O>, input: I) => write(command.name, input) as Promise<O>,
    read: <P, R>(statement: Statement<P, R>, parameters: P) =>
      attempt(() => prepared.all(statement as Statement<never, unknown>, parameters) as R[]),
    readNow: <P, R>(statement: Statement<P, R>, parameters: P) => {
      try {
        return prepared.all(statement as Statement<never, unknown>, parameters) as R[];
      } catch (thrown) {
        throw fromSqlite(thrown, file);
      }
    },
    query: (build) =>
      attempt(() => {
        const query = build(compilerOf("sqlite"), "sqlite").compile();
        return reader.prepare(query.sql).all(...(query.parameters as SQLInputValue[])) as never[];
      }),
    notify() {},
    listen: () => () => {},
    ping: () =>
      attempt(() => {
        reader.prepare("select 1").get();
      }),
    close: () =>
      closeWriter(() => {
        if (reader.isOpen) reader.close();
      }),
  };
}

function openReader(file: string): DatabaseSync {
  try {
    const reader = new DatabaseSync(file, { readOnly: true });
    try {
      reader.exec("pragma busy_timeout = 5000");
      checkSchema(reader, file);
      return reader;
    } catch (thrown) {
      reader.close();
      throw thrown;
    }
  } catch (thrown) {
    throw fromSqlite(thrown, file);
  }
}

/** A store that a newer program has changed in a breaking way is not read either: it would be misread. */
function checkSchema(reader: DatabaseSync, file: string): void {
  const isOurs = reader.prepare("select 1 from sqlite_master where name = 'migrations'").get();
  if (!isOurs) throw new WaybillError("not_found", `${file} is not a store of Waybill.`);
  const applied = reader.prepare("select version, name, breaking from migrations").all();
  outstanding(applied as unknown as AppliedMigration[], migrations);
}
