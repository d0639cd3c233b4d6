import type { ConversationKind } from "../address/kind.ts";
import { parseAddress } from "../address/address.ts";
import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";
import type { Place } from "./post-message.ts";

const kindOf = statement<{ tenant: string; address: string; parent: string }>()((k, p) =>
  k
    .selectFrom("conversations")
    .select(["address", "kind"])
    .where("tenant_id", "=", p.tenant)
    .where((e) => e.or([e("address", "=", p.address), e("address", "=", p.parent)])),
);

/** How wide a conversation is, as its platform told us; a thread is as wide as its conversation. `unknown` if never told. */
export async function readConversationKind(
  db: Database,
  tenant: string,
  place: Pick<Place, "address" | "parent">,
): Promise<ConversationKind> {
  const rows = await db.read(kindOf, {
    tenant,
    address: place.address,
    parent: place.parent ?? place.address,
  });
  const told = rows.filter((row) => row.kind !== "unknown");
  // A thread's own row may be older than what was said of its conversation since.
  const own = told.find((row) => row.address === (place.parent ?? place.address)) ?? told[0];
  return (own?.kind ?? "unknown") as ConversationKind;
}

export interface ConversationRecord {
  address: string;
  parent: string | null;
  channel: string;
  account: string;
  /** The platform's id of the conversation. */
  conversation: string;
  thread: string | null;
  kind: ConversationKind;
  title: string | null;
  lastPostSeq: number;
  createdAt: number;
  lastAt: number;
}

export interface ConversationFilter {
  /** Only threads of this conversation; left out: everything. */
  parent?: string;
  /** Only conversations themselves. */
  rootsOnly?: boolean;
  channel?: string;
  before?: { lastAt: number; address: string };
  limit: number;
}

/** Conversations and threads, the latest spoken in first. */
export async function listConversations(
  db: Database,
  tenant: string,
  filter: ConversationFilter,
): Promise<ConversationRecord[]> {
  const rows = await db.query((k) => {
    let q = k.selectFrom("conversations").selectAll().where("tenant_id", "=", tenant);
    if (filter.parent !== undefined) q = q.where("parent", "=", filter.parent);
    if (filter.rootsOnly === true) q = q.where("parent", "is", null);
    if (filter.channel !== undefined) q = q.where("channel", "=", filter.channel);
    if (filter.before) {
      const { lastAt, address } = filter.before;
      q = q.where((e) =>
        e.or([e("last_at", "<", lastAt), e.and([e("last_at", "=", lastAt), e("address", "<", address)])]),
      );
    }
    return q.orderBy("last_at", "desc").orderBy("address", "desc").limit(filter.limit);
  });
  return rows.map((row) => {
    const { conversation, thread } = parseAddress(row.address);
    return {
      address: row.address,
      parent: row.parent,
      channel: row.channel,
      account: row.account,
      conversation,
      thread,
      kind: row.kind as ConversationKind,
      title: row.title,
      lastPostSeq: row.last_post_seq,
      createdAt: row.created_at,
      lastAt: row.last_at,
    };
  });
}
