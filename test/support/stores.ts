/**
 * Every store test runs on both stores. `eachStore` makes one block named `[sqlite]` and one named `[postgres]`, and
 * the counts that `npm test` prints are taken from those names.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { describe, test } from "vitest";
import { skipVariables, variables } from "./services.ts";

export type StoreName = "sqlite" | "postgres";

/** An empty store of the test's own. `dispose` removes it, whatever is still connected. */
export interface FreshStore {
  readonly databaseUrl: string;
  dispose(): Promise<void>;
}

export interface TestStore {
  readonly name: StoreName;
  /** A new, empty database: a file in a folder of its own, or a database on the server. No migration has run. */
  fresh(): Promise<FreshStore>;
}

const sqlite: TestStore = {
  name: "sqlite",
  async fresh() {
    const folder = await mkdtemp(path.join(tmpdir(), "waybill-store-"));
    return {
      databaseUrl: `file:${path.join(folder, "waybill.db")}`,
      dispose: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    };
  },
};

const postgres: TestStore = {
  name: "postgres",
  async fresh() {
    const adminUrl = process.env[variables.postgres];
    if (!adminUrl)
      throw new Error(`${variables.postgres} is not set; run the tests through vitest.config.ts.`);
    const name = `waybill_test_${randomUUID().replaceAll("-", "")}`;
    await administer(adminUrl, `create database ${name}`);
    const url = new URL(adminUrl);
    url.pathname = `/${name}`;
    return {
      databaseUrl: url.href,
      dispose: () => administer(adminUrl, `drop database if exists ${name} with (force)`),
    };
  },
};

async function administer(adminUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/**
 * Defines the same tests for each store. Where there is no Postgres its block is skipped, with the reason in its
 * name; with CI=true that is a failure.
 */
export function eachStore(define: (store: TestStore) => void): void {
  describe("[sqlite]", () => define(sqlite));

  const missing = process.env[variables.postgres]
    ? null
    : (process.env[skipVariables.postgres] ?? "nobody looked");
  if (missing !== null && process.env["CI"] === "true") {
    test("[postgres] is there", () => {
      throw new Error(`With CI=true no store may be skipped. No Postgres: ${missing}`);
    });
  }
  const name = missing === null ? "[postgres]" : `[postgres] skipped: ${missing}`;
  describe(name, { skip: missing !== null }, () => define(postgres));
}
