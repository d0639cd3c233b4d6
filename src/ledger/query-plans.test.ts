/** What every turn does to the store looks into an index: with a million old runs it costs what it costs with ten. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LedgerHarness } from "../../test/contracts/ledger-harness.ts";
import { commands } from "../../test/contracts/ledger-commands.ts";
import type { Command } from "../db/command.ts";
import type { Database } from "../db/database.ts";
import { migrateSqlite } from "../db/sqlite/migrate-sqlite.ts";
import { Prepared, runCommand } from "../db/sqlite/run-command.ts";
import { compilerOf, type Statement } from "../db/statement.ts";
import { claimOps, readNextDue } from "../deliveries/claim-ops.ts";
import { noCrash } from "../kernel/crash-points.ts";
import { askAbort, stopPlace } from "./ask-abort.ts";
import { grantRun, readGrant, readMember } from "./grants.ts";
import { renewLease } from "./nodes.ts";
import { storeProgress } from "./note-run.ts";
import { readPlaceFacts, readPlaceRuns } from "./place-runs.ts";
import { readRun, readRunOfStream } from "./read-runs.ts";

/** Small by nature, however old an installation grows: one row for each process, agent or account. */
const small = ["nodes", "node_agents", "n", "na", "me", "senders"];

interface Planned {
  sql: string;
  plan: string[];
}

/** A store in this thread that keeps the plan of every statement it is given. */
class PlanningStore {
  readonly seen = new Map<string, Planned>();
  readonly #db: DatabaseSync;
  readonly #prepared: Prepared;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    migrateSqlite(this.#db);
    this.#prepared = new Prepared(this.#db);
    const { all } = this.#prepared;
    this.#prepared.all = (statement, parameters) => {
      this.#explain(
        statement.compiled("sqlite").sql,
        statement.bind("sqlite", parameters as never) as SQLInputValue[],
      );
      return all.call(this.#prepared, statement, parameters);
    };
  }

  #explain(sql: string, values: SQLInputValue[]): void {
    if (this.seen.has(sql)) return;
    const rows = this.#db.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    this.seen.set(sql, { sql, plan: rows.map(({ detail }) => detail) });
  }

  asDatabase(): Database {
    const used: Partial<Database> = {
      dialect: "sqlite",
      do: async <I, O>(command: Command<I, O>, input: I) => {
        const env = { dialect: "sqlite", now: Date.now(), reach: noCrash } as const;
        return runCommand(this.#prepared, commands.get(command.name) as Command<never, O>, input, env);
      },
      read: async <P, R>(statement: Statement<P, R>, parameters: P) =>
        this.#prepared.all(statement as Statement<never, unknown>, parameters) as R[],
      query: async (build) => {
        const query = build(compilerOf("sqlite"), "sqlite").compile();
        return this.#db.prepare(query.sql).all(...(query.parameters as SQLInputValue[])) as never[];
      },
    };
    return used as Database;
  }

  close(): void {
    this.#db.close();
  }
}

/** One of everything that turns, nodes and the outbox do all day long. */
async function aDay(db: Database): Promise<void> {
  const ledger = new LedgerHarness(db);
  const { tenant } = ledger;
  const [node, dead] = [await ledger.register(), await ledger.register()];
  const { address } = ledger.place("a");
  const first = await ledger.accept({ lane: "a" });
  await ledger.accept({ lane: "a", followUp: "interrupt" });
  await ledger.accept({ lane: "a" });
  const [claim] = await ledger.claim(node);
  if (!claim) throw new Error("nothing was claimed");
  await ledger.start(claim);
  await ledger.say(claim);
  await ledger.start(claim);
  await ledger.absorb(claim);
  await db.do(storeProgress, { fence: claim.fence, text: "half", percent: 50 });
  const grant = { grant: "grant_1", hash: "h", holder: "process:1", place: address, agentTurn: null };
  await db.do(grantRun, { fence: claim.fence, ...grant, lifeMs: 1_000, graceMs: 1_000 });
  await readGrant(db, tenant, "h", { now: Date.now(), graceMs: 1_000 });
  await readMember(db, tenant, "grant_1", claim.run.turn);
  await db.do(renewLease, { tenant, boot: node, leaseMs: 1_000 });
  await ledger.finish(claim, "completed");
  const lost = await ledger.accept({ lane: "b", recovery: "retry" });
  await ledger.accept({ lane: "c" });
  await ledger.claim(dead);
  await ledger.expire(dead);
  await ledger.recover(node);
  await db.do(askAbort, { tenant, run: lost.accepted.run ?? "", cause: "cancel", reason: "cancel" });
  await db.do(stopPlace, { tenant, address, reason: "cancel" });
  await readPlaceRuns(db, tenant, address, 20);
  await readPlaceFacts(db, tenant, address, 10);
  await readRun(db, tenant, first.accepted.run ?? "");
  await readRunOfStream(db, tenant, first.accepted.stream ?? "");
  await db.do(claimOps, { tenant, owner: node, channel: "webhook", limit: 10, inHand: null });
  await db.read(readNextDue, { tenant, channel: "webhook", now: Date.now() });
}

describe("a day's statements", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "waybill-plans-"));
  const store = new PlanningStore(path.join(folder, "plans.db"));
  beforeAll(() => aDay(store.asDatabase()));
  afterAll(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("read no table and no index from end to end", () => {
    expect(store.seen.size).toBeGreaterThan(40);
    const scans = [...store.seen.values()].flatMap(({ sql, plan }) =>
      plan.filter(isScan).map((detail) => `${detail}: ${sql}`),
    );
    expect(scans).toEqual([]);
  });

  test("narrow a table by more than its tenant", () => {
    const broad = [...store.seen.values()].flatMap(({ sql, plan }) =>
      plan.filter(isWholeTenant).map((detail) => `${detail}: ${sql}`),
    );
    expect(broad).toEqual([]);
  });

  const intended: [what: string, statement: RegExp, plan: RegExp][] = [
    ["a claim of runs", /^with "due".*update "runs"/s, /SEARCH q USING (COVERING )?INDEX runs_claimable/],
    [
      "the head of a lane",
      /^select .*from "runs" where .*"lane" = .*finished_at is null order by "lane_seq" limit 1/,
      /SEARCH runs USING INDEX runs_in_lane/,
    ],
    [
      "the next of a lane",
      /^update "runs" set "ready" = 1 .*as "head"/,
      /SEARCH head USING (COVERING )?INDEX runs_in_lane/,
    ],
    ["staged jobs", /^select "id" from "runs" where .*state = 'staged'/, /INDEX runs_staged/],
    ["a claim of ops", /^with "due".*update "ops"/s, /SEARCH o USING (COVERING )?INDEX ops_due/],
    ["the next due op", /^select o.next_at/, /SEARCH o USING (COVERING )?INDEX ops_due/],
    ["live runs asked at a place", /"origin" = .*finished_at is null/, /INDEX runs_live_by_origin/],
    [
      "live runs due at a place",
      /"reply_to" = .*reply_to <> origin.*finished_at is null/,
      /INDEX runs_live_by_reply/,
    ],
    ["ended runs asked at a place", /"origin" = .*finished_at is not null/, /INDEX runs_by_origin/],
    [
      "ended runs due at a place",
      /"reply_to" = .*reply_to <> origin.*finished_at is not null/,
      /INDEX runs_by_reply/,
    ],
    ["runs that dead nodes left", /^select "id" from "runs".*"owner" in/, /INDEX runs_live_by_origin/],
    [
      "runs of a node that were asked to end",
      /"owner" = .*abort_cause is not null/,
      /INDEX runs_asked_to_end/,
    ],
    ["ops of dead nodes", /^update "ops".*"owner" in/, /INDEX ops_sending/],
    ["a nested stream's run", /root_run <> id/, /INDEX runs_by_stream/],
    ["what a grant may act for", /from "grant_runs" as "g"/, /SEARCH g USING INDEX grant_runs_recent/],
    ["what a grant need not look at any more", /^update "grant_runs"/, /INDEX grant_runs_recent/],
    ["a grant", /from "grants"/, /INDEX grants_by_token/],
    ["ended runs posted at a place", /"posted_in" = .*finished_at is not null/, /INDEX runs_by_posted/],
  ];
  for (const [what, statement, plan] of intended) {
    test(`find ${what} by the index made for it`, () => {
      const found = [...store.seen.values()].filter(({ sql }) => statement.test(sql));
      expect(found.length, `statements that match ${statement}`).toBeGreaterThan(0);
      for (const one of found) expect(`${one.sql}\n${one.plan.join("\n")}`).toMatch(plan);
    });
  }
});

/** `SCAN runs`, and `SCAN runs USING INDEX ...` too: an index read from end to end. */
function isScan(detail: string): boolean {
  const table = /^SCAN (\w+)/.exec(detail)?.[1];
  const isMade = table === undefined || ["due", "mine", "json_each", "CONSTANT"].includes(table);
  return !isMade && !small.includes(table);
}

/** `SEARCH runs USING INDEX x (tenant_id=?)`: all that one installation ever had. */
function isWholeTenant(detail: string): boolean {
  const table = /^SEARCH (\w+) .*\(tenant_id=\?\)$/.exec(detail)?.[1];
  return table !== undefined && !small.includes(table);
}
