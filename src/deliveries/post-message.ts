import { sql } from "kysely";
import { all, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";

/** A place where something is said, as far as a command needs to know it. */
export interface Place {
  /** The address as text. */
  address: string;
  /** The conversation of a thread, as text; null for a conversation itself. */
  parent: string | null;
  channel: string;
  account: string;
  kind: "dm" | "group" | "channel" | "unknown";
  title?: string | null;
}

export interface NewMessage {
  tenant: string;
  id: string;
  place: Place;
  role: "user" | "assistant";
  text: string;
  /** JSON: `{ v, parts }`. */
  parts: string;
  notice: { key: string; values: string } | null;
  turn: string | null;
  run: string | null;
  delivery: string | null;
  platformId: string | null;
  sender: { id: string; name: string | null } | null;
}

type ConversationRow = Omit<Place, "title"> & {
  tenant: string;
  title: string | null;
  now: number;
  seq: number;
};

const countPost = statement<ConversationRow>()((k, p) =>
  k
    .insertInto("conversations")
    .values({
      tenant_id: p.tenant,
      address: p.address,
      parent: p.parent,
      channel: p.channel,
      account: p.account,
      kind: p.kind,
      title: p.title,
      last_post_seq: p.seq,
      created_at: p.now,
      last_at: p.now,
    })
    .onConflict((c) =>
      c.columns(["tenant_id", "address"]).doUpdateSet({
        last_post_seq: sql<number>`conversations.last_post_seq + excluded.last_post_seq`,
        last_at: p.now,
        // What the platform said of a conversation is kept; a send that knows nothing of it does not unsay it.
        kind: sql<string>`case when excluded.kind = 'unknown' then conversations.kind else excluded.kind end`,
        title: sql<string | null>`coalesce(excluded.title, conversations.title)`,
      }),
    )
    .returning(["last_post_seq", "kind"]),
);

const noteParent = statement<ConversationRow>()((k, p) =>
  k
    .insertInto("conversations")
    .values({
      tenant_id: p.tenant,
      address: p.address,
      parent: null,
      channel: p.channel,
      account: p.account,
      kind: p.kind,
      title: p.title,
      last_post_seq: p.seq,
      created_at: p.now,
      last_at: p.now,
    })
    .onConflict((c) => c.columns(["tenant_id", "address"]).doUpdateSet({ last_at: p.now })),
);

const insertMessage = statement<{
  tenant: string;
  id: string;
  address: string;
  seq: number;
  role: string;
  text: string;
  parts: string;
  noticeKey: string | null;
  noticeValues: string | null;
  turn: string | null;
  run: string | null;
  delivery: string | null;
  platformId: string | null;
  senderId: string | null;
  senderName: string | null;
  at: number;
}>()((k, p) =>
  k.insertInto("messages").values({
    tenant_id: p.tenant,
    id: p.id,
    address: p.address,
    post_seq: p.seq,
    role: p.role,
    text: p.text,
    parts_json: p.parts,
    notice_key: p.noticeKey,
    notice_json: p.noticeValues,
    turn_id: p.turn,
    run_id: p.run,
    delivery_id: p.delivery,
    platform_id: p.platformId,
    sender_id: p.senderId,
    sender_name: p.senderName,
    at: p.at,
  }),
);

/**
 * Records that something was said at a place, under the next `post_seq` there; makes the place known if it is new.
 * Part of a larger command.
 */
export function* postMessage(message: NewMessage, now: number): Program<{ postSeq: number }> {
  const { place, tenant } = message;
  const title = place.title ?? null;
  if (place.parent !== null) {
    const parent = { ...place, tenant, address: place.parent, parent: null, title: null, now, seq: 0 };
    yield* all(noteParent, parent);
  }
  const row = yield* first(countPost, {
    ...place,
    tenant,
    title: place.parent === null ? title : null,
    now,
    seq: 1,
  });
  const postSeq = row?.last_post_seq ?? 1;
  yield* all(insertMessage, {
    tenant,
    id: message.id,
    address: place.address,
    seq: postSeq,
    role: message.role,
    text: message.text,
    parts: message.parts,
    noticeKey: message.notice?.key ?? null,
    noticeValues: message.notice?.values ?? null,
    turn: message.turn,
    run: message.run,
    delivery: message.delivery,
    platformId: message.platformId,
    senderId: message.sender?.id ?? null,
    senderName: message.sender?.name ?? null,
    at: now,
  });
  return { postSeq };
}
