import { DatabaseSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import { killAt, noCrash, type CrashPlan } from "../../kernel/crash-points.ts";
import { asWaybillError, toErrorRecord, type ErrorRecord } from "../../kernel/errors.ts";
import type { CommandRegistry } from "../command.ts";
import { Prepared, runCommand } from "./run-command.ts";
import { migrateSqlite } from "./migrate-sqlite.ts";
import { fromSqlite } from "./sqlite-errors.ts";
import { takeLock } from "./take-lock.ts";

/**
 * The one writer of a SQLite store, in a thread of its own: a busy agent does not hold up commits, and a commit (4 ms
 * and more under load) does not hold up tokens. The commands of one moment share one transaction, each in a savepoint.
 */
export interface WriterData {
  file: string;
  commandsUrl: string;
  crash: CrashPlan | null;
}

export type ToWriter =
  | { kind: "batch"; now: number; commands: { name: string; input: unknown }[] }
  | { kind: "close" };

export type WriterResult = { value: unknown } | { error: ErrorRecord; cause?: string };

export type FromWriter =
  | { kind: "ready" }
  | { kind: "refused"; error: ErrorRecord; cause?: string }
  | { kind: "done"; results: WriterResult[] }
  | { kind: "closed" };

const { file, commandsUrl, crash } = workerData as WriterData;
const reach = crash ? killAt(crash) : noCrash;

function failure(thrown: unknown): { error: ErrorRecord; cause?: string } {
  const error = asWaybillError(fromSqlite(thrown, file));
  const cause = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : undefined;
  return { error: toErrorRecord(error), ...(cause === undefined ? {} : { cause }) };
}

function open(): { db: DatabaseSync; unlock: () => void } {
  const unlock = takeLock(file);
  try {
    const db = new DatabaseSync(file);
    try {
      db.exec("pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full");
      // 32 MiB of log between checkpoints instead of 4: pages that every turn touches are copied back eight times less.
      db.exec("pragma wal_autocheckpoint = 8000");
      db.exec("pragma foreign_keys = off; pragma temp_store = memory; pragma cache_size = -65536");
      migrateSqlite(db);
      return { db, unlock };
    } catch (thrown) {
      db.close();
      throw thrown;
    }
  } catch (thrown) {
    // Whoever puts it right and tries again in this process must not find the store in use by itself.
    unlock();
    throw thrown;
  }
}

/**
 * Runs a batch as one transaction. Nearly always every command goes through, so the first try has no savepoints (with
 * them, SQLite sets aside each page that a command touches: 60 microseconds a command). If one refuses, all of it is
 * rolled back and done again with a savepoint for each, so that one refusal undoes only itself.
 */
function runBatch(
  db: DatabaseSync,
  prepared: Prepared,
  registry: CommandRegistry,
  batch: Batch,
): WriterResult[] {
  if (batch.commands.length > 1) {
    try {
      return transaction(db, () =>
        batch.commands.map((one) => ({ value: runOne(prepared, registry, one, batch.now) })),
      );
    } catch {
      // What was refused, and whether it was the disk, the second try finds out.
    }
  }
  try {
    return transaction(db, () =>
      batch.commands.map((one) => runApart(db, prepared, registry, one, batch.now)),
    );
  } catch (thrown) {
    // The whole transaction is gone (a full disk, say): none of it happened, and each caller is told so.
    const failed = failure(thrown);
    return batch.commands.map(() => failed);
  }
}

function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("begin immediate");
  try {
    const result = work();
    db.exec("commit");
    return result;
  } catch (thrown) {
    if (db.isTransaction) db.exec("rollback");
    throw thrown;
  }
}

function runOne(
  prepared: Prepared,
  registry: CommandRegistry,
  one: Batch["commands"][number],
  now: number,
): unknown {
  const command = registry.get(one.name);
  if (!command) throw new TypeError(`There is no command ${one.name}.`);
  return runCommand(prepared, command, one.input, { dialect: "sqlite", now, reach });
}

function runApart(
  db: DatabaseSync,
  prepared: Prepared,
  registry: CommandRegistry,
  one: Batch["commands"][number],
  now: number,
): WriterResult {
  db.exec("savepoint command");
  try {
    const value = runOne(prepared, registry, one, now);
    db.exec("release command");
    return { value };
  } catch (thrown) {
    // A full disk ends the whole transaction at once (sqlite.org/lang_transaction.html); no savepoint is left.
    if (!db.isTransaction) throw thrown;
    db.exec("rollback to command");
    db.exec("release command");
    return failure(thrown);
  }
}

/** Commands of one transaction at most, so that the first of many does not wait for all of them. */
const BATCH_MOST = 64;

type Batch = Extract<ToWriter, { kind: "batch" }>;

/** Joins what has come meanwhile to what came first: while one commit was on its way to the disk, others queued up. */
function gather(port: MessagePort, first: ToWriter): { batch: Batch | null; close: boolean } {
  let batch: Batch | null = null;
  let message: ToWriter | undefined = first;
  while (message) {
    if (message.kind === "close") return { batch, close: true };
    batch = batch
      ? { kind: "batch", now: message.now, commands: [...batch.commands, ...message.commands] }
      : message;
    if (batch.commands.length >= BATCH_MOST) break;
    message = receiveMessageOnPort(port)?.message as ToWriter | undefined;
  }
  return { batch, close: false };
}

async function main(port: NonNullable<typeof parentPort>): Promise<void> {
  const send = (message: FromWriter): void => port.postMessage(message);
  let opened: ReturnType<typeof open>;
  let registry: CommandRegistry;
  try {
    registry = ((await import(commandsUrl)) as { commands: CommandRegistry }).commands;
    opened = open();
  } catch (thrown) {
    send({ kind: "refused", ...failure(thrown) });
    port.close();
    return;
  }
  const { db, unlock } = opened;
  const prepared = new Prepared(db);
  port.on("message", (message: ToWriter) => {
    const { batch, close } = gather(port, message);
    if (batch) send({ kind: "done", results: runBatch(db, prepared, registry, batch) });
    if (!close) return;
    db.close();
    unlock();
    send({ kind: "closed" });
    port.close();
  });
  send({ kind: "ready" });
}

if (parentPort) await main(parentPort);
