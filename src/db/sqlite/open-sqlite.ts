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

/** The main thread's end of the writer: gathers the commands of one moment and sends them as one batch. */
class WriterQueue {
  readonly #worker: Worker;
  readonly #options: SqliteOptions;
  #next: Waiting[] = [];
  #sent: Waiting[] = [];
  #scheduled = false;
  #lost: WaybillError | null = null;

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
      this.#next.push({ name, input, resolve, reject });
      if (this.#scheduled || this.#sent.length > 0) return;
      this.#scheduled = true;
      // One turn of the event loop gathers what belongs to one moment into one commit.
      setImmediate(() => {
        this.#scheduled = false;
        this.#send();
      });
    });
  }

  #send(): void {
    if (this.#sent.length > 0 || this.#next.length === 0) return;
    this.#sent = this.#next;
    this.#next = [];
    const message: ToWriter = {
      kind: "batch",
      now: this.#options.clock.now(),
      commands: this.#sent.map(({ name, input }) => ({ name, input })),
    };
    this.#worker.postMessage(message);
  }

  done(results: WriterResult[]): void {
    const answered = this.#sent;
    this.#sent = [];
    this.#send();
    answered.forEach((waiting, i) => {
      const result = results[i];
      if (result && "value" in result) waiting.resolve(result.value);
      else waiting.reject(this.#asError(waiting.name, result));
    });
  }

  #asError(name: string, result: WriterResult | undefined): WaybillError {
    const failed = result as { error: ErrorRecord; cause?: string } | undefined;
    if (!failed) return new WaybillError("internal", `The writer gave no answer to ${name}.`);
    if (failed.cause) this.#options.log.error({ command: name, cause: failed.cause }, "a command failed");
    return fromErrorRecord(failed.error);
  }

  lose(error: WaybillError): void {
    this.#lost = error;
    for (const waiting of [...this.#sent, ...this.#next]) waiting.reject(error);
    this.#sent = [];
    this.#next = [];
  }

  /** Resolves when nothing is waiting any more. */
  async drained(): Promise<void> {
    while (this.#sent.length > 0 || this.#next.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
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
