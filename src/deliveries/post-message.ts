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
  /** 1: the platform said so just now, with a person's message. What we post says nothing new of a place. */
  told: number;
};

/** What the platform said of a conversation last is kept; a post that knows nothing of it does not unsay it. */
function kindAfter(p: { told: number }) {
  return sql<string>`case when ${p.told} = 0 or excluded.kind = 'unknown' then conversations.kind else excluded.kind end`;
}

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
        kind: kindAfter(p),
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
    .onConflict((c) =>
      c.columns(["tenant_id", "address"]).doUpdateSet({ last_at: p.now, kind: kindAfter(p) }),
    ),
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
  const told = message.role === "user" ? 1 : 0;
  if (place.parent !== null) {
    const parent = { ...place, tenant, address: place.parent, parent: null, title: null, now, seq: 0, told };
    yield* all(noteParent, parent);
  }
  const row = yield* first(countPost, {
    ...place,
    tenant,
    title: place.parent === null ? title : null,
    now,
    seq: 1,
    told,
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
