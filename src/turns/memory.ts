import { sql } from "kysely";
import { all, command, type Program } from "../db/command.ts";
import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";

/**
 * What an agent remembers: the short memory of a scope (a conversation or thread; one for all when memory is shared).
 * It may forget; nothing about execution is ever read from it.
 */
export interface MemoryItem {
  role: "user" | "assistant";
  text: string;
  parts: string | null;
  sender: string | null;
  /** The message that it came from. */
  origin: string;
  address: string;
  run: string | null;
}

const insertItem = statement<MemoryItem & { tenant: string; scope: string; at: number }>()((k, p) =>
  k.insertInto("memory_items").values({
    tenant_id: p.tenant,
    scope: p.scope,
    role: p.role,
    text: p.text,
    parts_json: p.parts,
    sender: p.sender,
    origin: p.origin,
    address: p.address,
    run_id: p.run,
    at: p.at,
  }),
);

/** Adds to a scope's memory. Part of a larger command. */
export function* remember(tenant: string, scope: string, item: MemoryItem, now: number): Program<void> {
  yield* all(insertItem, { ...item, tenant, scope, at: now });
}

/** The notice that stands where a person took a message back. */
export const withdrawnKey = "message.withdrawn";

const insertQuestion = statement<MemoryItem & { tenant: string; scope: string; at: number }>()((k, p) =>
  k
    .insertInto("memory_items")
    .columns([
      "tenant_id",
      "scope",
      "role",
      "text",
      "parts_json",
      "sender",
      "origin",
      "address",
      "run_id",
      "at",
    ])
    .expression(
      k
        .selectNoFrom([
          sql<string>`${p.tenant}`.as("tenant_id"),
          sql<string>`${p.scope}`.as("scope"),
          sql<string>`${p.role}`.as("role"),
          sql<string>`${p.text}`.as("text"),
          sql<string | null>`${p.parts}`.as("parts_json"),
          sql<string | null>`${p.sender}`.as("sender"),
          sql<string>`${p.origin}`.as("origin"),
          sql<string>`${p.address}`.as("address"),
          sql<string | null>`${p.run}`.as("run_id"),
          sql<number>`cast(${p.at} as bigint)`.as("at"),
        ])
        .where(
          sql<boolean>`not exists (select 1 from messages where tenant_id = ${p.tenant} and id = ${p.origin}
            and notice_key = ${sql.lit(withdrawnKey)})`,
        ),
    ),
);

/** Adds what a person asked, unless they took it back meanwhile. Part of a larger command. */
export function* rememberQuestion(
  tenant: string,
  scope: string,
  item: MemoryItem,
  now: number,
): Program<void> {
  yield* all(insertQuestion, { ...item, tenant, scope, at: now });
}

const recent = statement<{ tenant: string; scope: string; limit: number }>()((k, p) =>
  k
    .selectFrom("memory_items as m")
    .select([
      "m.seq",
      "m.role",
      "m.text",
      "m.parts_json",
      "m.sender",
      "m.origin",
      "m.address",
      "m.run_id",
      "m.at",
    ])
    .where("m.tenant_id", "=", p.tenant)
    .where("m.scope", "=", p.scope)
    .where(
      "m.seq",
      ">",
      sql<number>`coalesce((select since_seq from memory_scopes s where s.tenant_id = ${p.tenant} and s.scope = ${p.scope}), 0)`,
    )
    .orderBy("m.seq", "desc")
    .limit(p.limit),
);

export interface Remembered extends MemoryItem {
  at: number;
}

function oldestFirst(rows: readonly NonNullable<(typeof recent)["row"]>[]): Remembered[] {
  return rows.toReversed().map((row) => ({
    role: row.role as MemoryItem["role"],
    text: row.text,
    parts: row.parts_json,
    sender: row.sender,
    origin: row.origin,
    address: row.address,
    run: row.run_id,
    at: row.at,
  }));
}

/** The latest items of a scope since its memory began, oldest first. */
export async function readMemory(
  db: Database,
  tenant: string,
  scope: string,
  limit: number,
): Promise<Remembered[]> {
  return oldestFirst(await db.read(recent, { tenant, scope, limit }));
}

/** The same at once; only where the store has `readNow`. */
export function readMemoryNow(
  readNow: NonNullable<Database["readNow"]>,
  tenant: string,
  scope: string,
  limit: number,
): Remembered[] {
  return oldestFirst(readNow(recent, { tenant, scope, limit }));
}

const begin = statement<{ tenant: string; scope: string; at: number }>()((k, p) =>
  k
    .insertInto("memory_scopes")
    .values({
      tenant_id: p.tenant,
      scope: p.scope,
      since_seq: sql<number>`coalesce((select max(seq) from memory_items where tenant_id = ${p.tenant} and scope = ${p.scope}), 0)`,
      at: p.at,
    })
    .onConflict((c) =>
      c.columns(["tenant_id", "scope"]).doUpdateSet({
        since_seq: sql<number>`excluded.since_seq`,
        summary: null,
        at: p.at,
      }),
    ),
);

/** Begins a new memory: what was before is kept for people and no longer given to the agent. Part of a larger command. */
export function* forget(tenant: string, scope: string, now: number): Program<void> {
  yield* all(begin, { tenant, scope, at: now });
}

export const beginMemory = command(
  "turns.begin-memory",
  function* (input: { tenant: string; scope: string }, env) {
    yield* forget(input.tenant, input.scope, env.now);
  },
);
