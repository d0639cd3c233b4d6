import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Worker } from "node:worker_threads";
import type { Clock } from "../../kernel/clock.ts";
import type { CrashPlan } from "../../kernel/crash-points.ts";
import { fromErrorRecord, WaybillError, type ErrorRecord } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Command } from "../command.ts";
import type { Database } from "../database.ts";
import { compilerOf, type Statement } from "../statement.ts";
import { Prepared } from "./run-command.ts";
import { fromSqlite } from "./sqlite-errors.ts";
import type { FromWriter, ToWriter, WriterData, WriterResult } from "./writer-thread.ts";

export interface SqliteOptions {
  file: string;
  /** The module whose export `commands` is the registry; the writer thread imports it. */
  commandsUrl: string;
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
    if (this.#next.length === 0) return;
    const message: ToWriter = {
      kind: "batch",
      now: this.#options.clock.now(),
      commands: this.#next.map(({ name, input }) => ({ name, input })),
    };
    this.#sent.push(...this.#next);
    this.#next = [];
    this.#worker.postMessage(message);
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

  lose(error: WaybillError): void {
    this.#lost = error;
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

/**
 * Opens (and makes, and brings up to date) a SQLite store.
 * @throws WaybillError `data_in_use`, `data_folder_unusable`, `schema_too_new`, `store_unavailable`
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  makeFolder(options.file);
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const data: WriterData = {
    file: options.file,
    commandsUrl: options.commandsUrl,
    crash: options.crash ?? null,
  };
  const worker = new Worker(new URL(`./writer-thread.${extension}`, import.meta.url), { workerData: data });
  const [first] = (await once(worker, "message")) as [FromWriter];
  if (first.kind !== "ready") {
    if (first.kind === "refused") throw fromErrorRecord(first.error);
    throw new WaybillError("store_unavailable", "The writer thread did not start.");
  }
  const queue = new WriterQueue(worker, options);
  let closing = false;
  const lose = (cause: unknown): void => {
    if (closing) return;
    const error = new WaybillError(
      "store_unavailable",
      "The writer of the store ended; restart Waybill.",
      {},
      cause,
    );
    queue.lose(error);
    options.onLost?.(error);
  };
  worker.on("message", (message: FromWriter) => {
    if (message.kind === "done") queue.done(message.results);
  });
  worker.on("error", lose);
  worker.on("exit", lose);
  const close = async (): Promise<void> => {
    if (closing) return;
    await queue.drained();
    closing = true;
    const closed = once(worker, "exit");
    worker.postMessage({ kind: "close" } satisfies ToWriter);
    await closed;
  };
  return sqliteDatabase(options.file, (name, input) => queue.push(name, input), close);
}

/**
 * Opens a SQLite store for reading only, beside a live gateway or without one. Commands are refused.
 * @throws WaybillError `not_found` if there is no such store
 */
export function openSqliteReadOnly(file: string): Database {
  const refuse = (): Promise<never> =>
    Promise.reject(new WaybillError("no_server", "No gateway is running here; start it with: waybill start"));
  return sqliteDatabase(file, refuse, () => Promise.resolve());
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
  closeWriter: () => Promise<void>,
): Database {
  const reader = openReader(file);
  const prepared = new Prepared(reader);
  const attempt = <T>(read: () => T): Promise<T> => {
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
    async close() {
      await closeWriter();
      if (reader.isOpen) reader.close();
    },
  };
}

function openReader(file: string): DatabaseSync {
  try {
    const reader = new DatabaseSync(file, { readOnly: true });
    reader.exec("pragma busy_timeout = 5000");
    return reader;
  } catch (cause) {
    throw new WaybillError("not_found", `There is no store at ${file}.`, {}, cause);
  }
}
