/** The schema only goes forward, one program at a time, and an old program keeps off what it cannot understand. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrations, outstanding, type AppliedMigration, type Migration } from "../../src/db/migrate.ts";
import { migratePostgres } from "../../src/db/postgres/migrate-postgres.ts";
import { migrateSqlite } from "../../src/db/sqlite/migrate-sqlite.ts";
import { databaseTarget } from "../../src/gateway/open-database.ts";
import { eachStore, type FreshStore } from "../support/stores.ts";
import { openReader, openStore } from "./database-open.ts";

const newest = migrations.at(-1)?.version ?? 0;
const step = (version: number, breaking: boolean, statements: readonly string[] = []): Migration => ({
  version,
  name: `step ${version}`,
  breaking,
  statements,
});

eachStore((store) => {
  let fresh: FreshStore;
  beforeEach(async () => {
    fresh = await store.fresh();
  });
  afterEach(() => fresh.dispose());

  const migrate = (known: readonly Migration[]): Promise<void> =>
    store.name === "sqlite"
      ? onFile(fresh.databaseUrl, (db) => migrateSqlite(db, known))
      : onServer(fresh.databaseUrl, (pool) => migratePostgres(pool, known));
  const ask = (sql: string): Promise<Record<string, unknown>[]> =>
    store.name === "sqlite"
      ? onFile(fresh.databaseUrl, (db) => db.prepare(sql).all() as Record<string, unknown>[])
      : onServer(
          fresh.databaseUrl,
          async (pool) => (await pool.query(sql)).rows as Record<string, unknown>[],
        );
  const applied = async (): Promise<unknown[]> =>
    (await ask("select version from migrations order by version")).map((row) => Number(row["version"]));

  test("a fresh store is brought up to date, and a second time nothing is left to do", async () => {
    await migrate(migrations);
    await migrate(migrations);
    expect(await applied()).toEqual(migrations.map(({ version }) => version));
    const [row] = await ask("select max(applied_at) as at from migrations");
    expect(Math.abs(Number(row?.["at"]) - Date.now())).toBeLessThan(60_000);
  });

  test("a newer program adds only its own steps", async () => {
    await migrate(migrations);
    await migrate([...migrations, step(newest + 1, false, ["create table later (id {int})"])]);
    expect(await applied()).toEqual([...migrations.map(({ version }) => version), newest + 1]);
    expect(await ask("select id from later")).toEqual([]);
  });

  test("a step that fails leaves nothing of it", async () => {
    await migrate(migrations);
    const broken = step(newest + 1, false, ["create table half (id {int})", "create nonsense"]);
    await expect(migrate([...migrations, broken])).rejects.toThrow("nonsense");
    expect(await applied()).toEqual(migrations.map(({ version }) => version));
    await expect(ask("select id from half")).rejects.toThrow("half");
  });

  test("an old program refuses a breaking step that it does not know, for writing and for reading", async () => {
    await migrate([...migrations, step(newest + 1, true)]);
    await expect(openStore(fresh.databaseUrl)).rejects.toMatchObject({
      code: "schema_too_new",
      details: { version: newest + 1, known: newest },
    });
    await expect(openReader(fresh.databaseUrl)).rejects.toMatchObject({ code: "schema_too_new" });
    // Nothing of it is held: it can be used again at once.
    await expect(openStore(fresh.databaseUrl)).rejects.toMatchObject({ code: "schema_too_new" });
    expect(await applied()).toEqual([...migrations.map(({ version }) => version), newest + 1]);
  });

  test("an old program works with a step that it does not know and that breaks nothing", async () => {
    await migrate([...migrations, step(newest + 1, false, ["create table later (id {int})"])]);
    const db = await openStore(fresh.databaseUrl);
    await db.ping();
    await db.close();
    const reader = await openReader(fresh.databaseUrl);
    await reader.close();
  });

  test("processes that migrate a fresh store at once are all done, and each step was made once", async () => {
    const processes = await Promise.all([1, 2, 3].map(() => startMigration(fresh.databaseUrl)));
    const said = await Promise.all(processes.map((go) => go()));
    expect(said).toEqual(["migrated", "migrated", "migrated"]);
    expect(await applied()).toEqual(migrations.map(({ version }) => version));
  });
});

describe("the steps", () => {
  test("are numbered from 1 without gaps", () => {
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, i) => i + 1));
  });

  test("that came out of order are still made", () => {
    const have: AppliedMigration[] = [{ version: 2, name: "step 2", breaking: 0 }];
    const known = [step(1, false), step(2, false), step(3, false)];
    expect(outstanding(have, known).map(({ version }) => version)).toEqual([1, 3]);
  });
});

async function onFile<T>(databaseUrl: string, work: (db: DatabaseSync) => T): Promise<T> {
  const db = new DatabaseSync(databaseTarget(databaseUrl, tmpdir()).url);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

async function onServer<T>(databaseUrl: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Starts a process that waits. @returns how to let it go; what it says in the end */
async function startMigration(databaseUrl: string): Promise<() => Promise<unknown>> {
  const child = fork(new URL("./migrations-run.ts", import.meta.url), [databaseUrl], { execArgv: [] });
  await once(child, "message");
  return async () => {
    const said = once(child, "message");
    child.send("go");
    const [message] = (await said) as [unknown];
    await once(child, "exit");
    return message;
  };
}
