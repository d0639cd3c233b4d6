/** What goes wrong in a store has a code, takes nothing with it that was there before, and passes where it can. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { WaybillError } from "../../src/kernel/errors.ts";
import { eachStore, type FreshStore, type TestStore } from "../support/stores.ts";
import {
  loseConnection,
  meetFullDisk,
  note,
  noteInOrder,
  readNotes,
  setDiskFull,
  takeBoth,
} from "./database-commands.ts";
import { openReader, openStore as open } from "./database-open.ts";

eachStore((store) => (store.name === "sqlite" ? onSqlite() : onPostgres(store)));

function onSqlite(): void {
  let folder: string;
  let file: string;
  let db: Database | null;
  beforeEach(() => {
    folder = path.join(tmpdir(), `waybill-db-${randomUUID()}`);
    mkdirSync(folder);
    file = path.join(folder, "waybill.db");
    db = null;
  });
  afterEach(async () => {
    await db?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("commands run in the order given, and many of one moment share few commits", async () => {
    db = await open(file);
    const store = db;
    const given = Array.from({ length: 300 }, (_, i) => `n${String(i).padStart(3, "0")}`);
    const numbers = await Promise.all(given.map((name) => store.do(noteInOrder, { name })));
    expect(numbers.map(({ number }) => number)).toEqual(given.map((_, i) => i + 1));
    expect(commitsIn(`${file}-wal`)).toBeLessThan(30);
  });

  test("a full disk is store_full for whom it meets, and what was there before is safe", async () => {
    db = await open(file);
    const store = db;
    await store.do(note, { name: "before" });
    await store.do(setDiskFull, { full: true });
    const big = { text: "x".repeat(300_000) };
    const settled = await Promise.allSettled([
      store.do(note, { name: "one", ...big }),
      store.do(note, { name: "two", ...big }),
    ]);
    for (const one of settled) expect(one).toMatchObject({ reason: { code: "store_full" } });
    expect(await store.read(readNotes, {})).toEqual([{ slot: "before", address: "" }]);
    await store.do(setDiskFull, { full: false });
    await store.do(note, { name: "after" });
    expect((await store.read(readNotes, {})).map((row) => row.slot)).toEqual(["before", "after"]);
  });

  test("an input that cannot cross to the writer fails alone", async () => {
    db = await open(file);
    const store = db;
    const bad = { name: "b", text: (() => "no data") as unknown as string };
    const settled = await Promise.allSettled([
      store.do(note, { name: "a" }),
      store.do(note, bad),
      store.do(note, { name: "c" }),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(settled[1]).toMatchObject({ reason: { code: "internal" } });
  });

  test("a file that is no database is store_unavailable, and is left as it is", async () => {
    writeFileSync(file, "this is no database, whatever its name says ".repeat(50));
    await expect(open(file)).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(openReader(file)).rejects.toMatchObject({ code: "store_unavailable" });
  });

  test("a file that is damaged in the middle is store_unavailable", async () => {
    db = await open(file);
    await db.do(note, { name: "a" });
    await db.close();
    const [damaged, size] = [path.join(folder, "damaged.db"), 4_096];
    copyFileSync(file, damaged);
    const bytes = Buffer.alloc(size, 0xff);
    const handle = new DatabaseSync(file);
    const root = handle.prepare("select rootpage from sqlite_master where name = 'slots'").get() as {
      rootpage: number;
    };
    handle.close();
    overwrite(damaged, bytes, (root.rootpage - 1) * size);
    db = await open(damaged);
    const store = db;
    await expect(store.do(note, { name: "b" })).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(store.read(readNotes, {})).rejects.toMatchObject({ code: "store_unavailable" });
  });

  test("a file that is a database of something else is not found when it is only read", async () => {
    const other = new DatabaseSync(file);
    other.exec("create table theirs (id integer)");
    other.close();
    await expect(openReader(file)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a folder where the file should be is data_folder_unusable", async () => {
    mkdirSync(file);
    await expect(open(file)).rejects.toMatchObject({ code: "data_folder_unusable" });
  });

  test("a data folder that cannot be made is data_folder_unusable", async () => {
    writeFileSync(path.join(folder, "plain"), "");
    const below = path.join(folder, "plain", "waybill.db");
    await expect(open(below)).rejects.toMatchObject({ code: "data_folder_unusable" });
  });

  test("a second opening in the same process is refused, and after a failed one the store is free", async () => {
    db = await open(file);
    await expect(open(file)).rejects.toMatchObject({ code: "data_in_use" });
    await db.close();
    db = await open(file);
    await expect(db.do(note, { name: "a" })).resolves.toEqual({ notes: 1 });
  });
}

function onPostgres(store: TestStore): void {
  let fresh: FreshStore;
  let db: Database;
  beforeEach(async () => {
    fresh = await store.fresh();
    db = await open(fresh.databaseUrl);
  });
  afterEach(async () => {
    await db.close();
    await fresh.dispose();
  });
  const notes = async (): Promise<string[]> => (await db.read(readNotes, {})).map((row) => row.slot);

  test("two commands that lock each other out are both done in the end", async () => {
    const rounds = 3;
    for (let i = 0; i < rounds; i += 1) {
      await Promise.all([
        db.do(takeBoth, { counters: ["one", "two"] }),
        db.do(takeBoth, { counters: ["two", "one"] }),
      ]);
    }
    const { numbers } = await db.do(takeBoth, { counters: ["one", "two"] });
    expect(numbers).toEqual([2 * rounds + 1, 2 * rounds + 1]);
    expect(await deadlocksIn(fresh.databaseUrl)).toBeGreaterThan(0);
  });

  test("a connection that is cut inside a command is store_unavailable, leaves nothing, and is replaced", async () => {
    await expect(db.do(loseConnection, { name: "a" })).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await db.do(note, { name: "b" })).toEqual({ notes: 1 });
    expect(await notes()).toEqual(["b"]);
  });

  test("all connections cut while idle are replaced", async () => {
    await Promise.all(["a", "b", "c"].map((name) => db.do(note, { name })));
    await endOthers(fresh.databaseUrl);
    // Which of the dead connections the pool has noticed by now is chance; whoever meets one is told so and comes again.
    for (;;) {
      const known = await db.do(note, { name: "d" }).catch((error: unknown) => error);
      if (!(known instanceof WaybillError)) break;
      expect(known.code).toBe("store_unavailable");
    }
    expect((await notes()).toSorted()).toEqual(["a", "b", "c", "d"]);
  });

  test("a full disk is store_full", async () => {
    await expect(db.do(meetFullDisk, { name: "a" })).rejects.toMatchObject({ code: "store_full" });
    expect(await notes()).toEqual([]);
  });

  test("a NUL character in a text is refused as the sender's mistake", async () => {
    await expect(db.do(note, { name: "a\0b" })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("a notification is heard by others, also after its connection was cut", async () => {
    const other = await open(fresh.databaseUrl);
    try {
      const heard = hearings(db);
      await until(heard, () => other.notify("first"), "first");
      await endOthers(fresh.databaseUrl);
      await until(heard, () => other.notify("second"), "second");
    } finally {
      await other.close();
    }
  });
}

/** Transactions in a write-ahead log: frames whose header says how long the database is after them (sqlite.org/walformat.html). */
function commitsIn(wal: string): number {
  const bytes = readFileSync(wal);
  const page = bytes.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + 24 + page <= bytes.length; at += 24 + page) {
    if (bytes.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}

function overwrite(file: string, bytes: Uint8Array, at: number): void {
  const handle = openSync(file, "r+");
  try {
    writeSync(handle, bytes, 0, bytes.length, at);
  } finally {
    closeSync(handle);
  }
}

/** Topics that a store hears, as they come. */
function hearings(db: Database): { wait(topic: string, ms: number): Promise<boolean> } {
  const heard = new Set<string>();
  const waiting = new Map<string, () => void>();
  db.listen((topic) => {
    heard.add(topic);
    waiting.get(topic)?.();
  });
  return {
    wait(topic, ms) {
      if (heard.has(topic)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), ms);
        waiting.set(topic, () => {
          clearTimeout(timer);
          resolve(true);
        });
      });
    },
  };
}

/** A notification is a hint that may be lost while its connection is made anew; so it is told until it is heard. */
async function until(heard: ReturnType<typeof hearings>, tell: () => void, topic: string): Promise<void> {
  do tell();
  while (!(await heard.wait(topic, 100)));
}

async function onServer<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Cuts every other connection to this test's own database. */
function endOthers(databaseUrl: string): Promise<unknown> {
  return onServer(databaseUrl, (client) =>
    client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    ),
  );
}

function deadlocksIn(databaseUrl: string): Promise<number> {
  return onServer(databaseUrl, async (client) => {
    const { rows } = await client.query<{ deadlocks: string }>(
      "select deadlocks from pg_stat_database where datname = current_database()",
    );
    return Number(rows[0]?.deadlocks);
  });
}
