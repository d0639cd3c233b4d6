import { sql } from "kysely";
import { statement } from "../db/statement.ts";
import type { Database } from "../db/database.ts";
import type { Tables } from "../db/tables.ts";
import type { MessagePart } from "../ledger/run.ts";

/** A committed message. Times are milliseconds since 1970. */
export interface MessageRecord {
  id: string;
  address: string;
  /** Its place in its conversation or thread, from 1, without gaps. */
  postSeq: number;
  role: "user" | "assistant";
  text: string;
  parts: MessagePart[];
  /** A text of the catalogue, to be rendered in the reader's language; `text` is what it was when it was posted. */
  notice: { key: string; values: Record<string, string | number> } | null;
  turn: string | null;
  run: string | null;
  delivery: string | null;
  /** The id that its platform, or the client that posted it, gave it. */
  platformId: string | null;
  sender: { id: string; name: string | null } | null;
  at: number;
}

export function toMessageRecord(row: Tables["messages"]): MessageRecord {
  return {
    id: row.id,
    address: row.address,
    postSeq: row.post_seq,
    role: row.role as MessageRecord["role"],
    text: row.text,
    parts: (JSON.parse(row.parts_json) as { parts: MessagePart[] }).parts,
    notice:
      row.notice_key === null
        ? null
        : {
            key: row.notice_key,
            values: JSON.parse(row.notice_json ?? "{}") as Record<string, string | number>,
          },
    turn: row.turn_id,
    run: row.run_id,
    delivery: row.delivery_id,
    platformId: row.platform_id,
    sender: row.sender_id === null ? null : { id: row.sender_id, name: row.sender_name },
    at: row.at,
  };
}

const afterSeq = statement<{ tenant: string; address: string; after: number; limit: number }>()((k, p) =>
  k
    .selectFrom("messages")
    .selectAll()
    .where("tenant_id", "=", p.tenant)
    .where("address", "=", p.address)
    .where("post_seq", ">", p.after)
    .orderBy("post_seq")
    .limit(p.limit),
);

/** What was said at one place after a `post_seq` (0: from the beginning), oldest first. */
export async function listMessages(
  db: Database,
  tenant: string,
  address: string,
  after: number,
  limit: number,
): Promise<MessageRecord[]> {
  const messages = (await db.read(afterSeq, { tenant, address, after, limit })).map(toMessageRecord);
  return withRuns(db, tenant, messages);
}

/** A person's message is stored before its run is known to it; the run of its turn is the one that answers it. */
async function withRuns(
  db: Database,
  tenant: string,
  messages: readonly MessageRecord[],
): Promise<MessageRecord[]> {
  const turns = messages.flatMap(({ role, run, turn }) => (role === "user" && !run && turn ? [turn] : []));
  if (turns.length === 0) return [...messages];
  const rows = await db.query((k) =>
    k
      .selectFrom("runs")
      .select(["id", "turn_id"])
      .where("tenant_id", "=", tenant)
      .where("turn_id", "in", turns)
      .orderBy("created_at", "desc"),
  );
  const runOf = new Map(rows.map((row) => [row.turn_id, row.id]));
  return messages.map((message) =>
    message.run === null && message.turn !== null
      ? { ...message, run: runOf.get(message.turn) ?? null }
      : message,
  );
}

const lastSeq = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .selectFrom("conversations")
    .select("last_post_seq")
    .where("tenant_id", "=", p.tenant)
    .where("address", "=", p.address),
);

/** The `post_seq` of the last message at a place; 0 if nothing was said there. */
export async function readLastPostSeq(db: Database, tenant: string, address: string): Promise<number> {
  const [row] = await db.read(lastSeq, { tenant, address });
  return row?.last_post_seq ?? 0;
}

const byId = statement<{ tenant: string; id: string }>()((k, p) =>
  k.selectFrom("messages").selectAll().where("tenant_id", "=", p.tenant).where("id", "=", p.id),
);

export async function readMessage(db: Database, tenant: string, id: string): Promise<MessageRecord | null> {
  const [row] = await db.read(byId, { tenant, id });
  return row ? toMessageRecord(row) : null;
}

const ofRun = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .selectFrom("messages")
    .selectAll()
    .where("tenant_id", "=", p.tenant)
    .where("run_id", "=", p.run)
    .orderBy("at")
    .orderBy("post_seq"),
);

/** What a run has said, oldest first. */
export async function readRunMessages(db: Database, tenant: string, run: string): Promise<MessageRecord[]> {
  return (await db.read(ofRun, { tenant, run })).map(toMessageRecord);
}

const finalOf = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .selectFrom("messages as m")
    .innerJoin("deliveries as d", (join) =>
      join.onRef("d.tenant_id", "=", "m.tenant_id").onRef("d.id", "=", "m.delivery_id"),
    )
    .selectAll("m")
    .where("m.tenant_id", "=", p.tenant)
    .where("m.run_id", "=", p.run)
    .where(sql<boolean>`d.kind in ('final', 'notice')`)
    .orderBy("m.at", "desc")
    .limit(sql.lit(1)),
);

/** The message that a run ended with: its answer, or the notice of how it ended. */
export async function readFinalMessage(
  db: Database,
  tenant: string,
  run: string,
): Promise<MessageRecord | null> {
  const [row] = await db.read(finalOf, { tenant, run });
  return row ? toMessageRecord(row) : null;
}

const repliesTo = statement<{ tenant: string; turn: string }>()((k, p) =>
  k
    .selectFrom("deliveries as d")
    .innerJoin("messages as m", (join) =>
      join.onRef("m.tenant_id", "=", "d.tenant_id").onRef("m.id", "=", "d.message_id"),
    )
    .selectAll("m")
    .where("d.tenant_id", "=", p.tenant)
    .where("d.turn_id", "=", p.turn)
    .where("d.run_id", "is", null)
    .orderBy("d.created_at")
    .orderBy("m.post_seq"),
);

/** What was posted for a turn without a run: the reply to a reserved word, or that a cap was reached. Oldest first. */
export async function readReplies(db: Database, tenant: string, turn: string): Promise<MessageRecord[]> {
  return (await db.read(repliesTo, { tenant, turn })).map(toMessageRecord);
}

const byPlatformId = statement<{ tenant: string; address: string; platformId: string }>()((k, p) =>
  k
    .selectFrom("messages")
    .selectAll()
    .where("tenant_id", "=", p.tenant)
    .where("address", "=", p.address)
    .where("platform_id", "=", p.platformId)
    .limit(sql.lit(2)),
);

/** A message by its place and the id that its platform gave it. */
export async function readPlatformMessage(
  db: Database,
  tenant: string,
  address: string,
  platformId: string,
): Promise<MessageRecord | null> {
  const [row] = await db.read(byPlatformId, { tenant, address, platformId });
  return row ? toMessageRecord(row) : null;
}

/** Messages of any place by the id that their platform gave them. Reads the whole table: for `why`, as its last try. */
export async function findPlatformMessages(
  db: Database,
  tenant: string,
  platformId: string,
): Promise<MessageRecord[]> {
  const rows = await db.query((k) =>
    k
      .selectFrom("messages")
      .selectAll()
      .where("tenant_id", "=", tenant)
      .where("platform_id", "=", platformId)
      .limit(2),
  );
  return rows.map(toMessageRecord);
}
