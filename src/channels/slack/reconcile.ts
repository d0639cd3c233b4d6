import type { ConversationsHistoryResponse, ConversationsRepliesResponse } from "@slack/web-api";
import type { OutgoingOp, ReconcileOutcome } from "../channel.ts";
import type { Self } from "./read-event.ts";
import { markerType, receiptOf } from "./send.ts";
import { failureOf } from "./slack-api.ts";
import type { Workspace } from "./workspace.ts";

const pageSize = 200;
/** Pages that are read before it is given up: 4,000 messages since the op was made. */
const mostPages = 20;
/** How far Slack's clock and ours may be apart. */
const marginMs = 600_000;

type Page = ConversationsHistoryResponse | ConversationsRepliesResponse;

/**
 * Settles an attempt whose outcome is unclear: an edit or a deletion may be done again without harm, a post is looked
 * for by the marker in its metadata, among all that was said since the op was made. Only if all of that was read and the
 * post is not there is it sent again.
 */
export async function reconcile(workspace: Workspace, op: OutgoingOp): Promise<ReconcileOutcome> {
  if (op.kind !== "create" && op.target !== null) return { kind: "send-again" };
  const { conversation, thread } = op.address;
  const oldest = String(Math.max(0, madeAt(op.key) - marginMs) / 1_000);
  const common = { channel: conversation, oldest, include_all_metadata: true, limit: pageSize };
  try {
    const self = await workspace.self();
    let cursor: string | undefined;
    for (let pages = 0; pages < mostPages; pages += 1) {
      const at = { ...common, ...(cursor === undefined ? {} : { cursor }) };
      const page: Page =
        thread === null
          ? await workspace.api.conversations.history(at)
          : await workspace.api.conversations.replies({ ...at, ts: thread });
      const ts = findMarked(page, op, self);
      if (ts !== null) return { kind: "found", receipt: await receiptOf(workspace, conversation, ts) };
      cursor = page.response_metadata?.next_cursor || undefined;
      if (cursor === undefined) {
        return page.has_more === true
          ? { kind: "unknown", reason: "Slack showed only a part of what was said since" }
          : { kind: "send-again" };
      }
    }
    return { kind: "unknown", reason: "too much was said since to look for the post" };
  } catch (thrown) {
    return ofFailure(thrown);
  }
}

function findMarked(page: Page, op: OutgoingOp, self: Self): string | null {
  const found = page.messages?.find(({ user, bot_id: bot, metadata }) => {
    // Another app may write what it likes into its own metadata.
    if (user !== self.userId && (self.botId === null || bot !== self.botId)) return false;
    const payload = metadata?.event_payload as Record<string, unknown> | undefined;
    return metadata?.event_type === markerType && payload?.["op"] === op.key;
  });
  return found?.ts ?? null;
}

/** When an op was made, in milliseconds since 1970: its id is a UUIDv7. 0 for any other: then all is read. */
function madeAt(key: string): number {
  const hex = /^op_([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(key);
  return hex ? Number.parseInt(`${hex[1]}${hex[2]}`, 16) : 0;
}

function ofFailure(thrown: unknown): ReconcileOutcome {
  const failure = failureOf(thrown);
  const reason = `looked for the post: ${failure.reason}`;
  if (failure.kind === "busy" && failure.afterMs !== undefined) {
    return { kind: "retry", reason, afterMs: failure.afterMs };
  }
  if (failure.kind !== "refusal") return { kind: "retry", reason };
  switch (failure.error) {
    // No such place, so no such post; sending says the rest.
    case "channel_not_found":
    case "thread_not_found":
    case "message_not_found":
      return { kind: "send-again" };
    case "missing_scope":
    case "not_in_channel":
      return { kind: "unknown", reason };
    default:
      return { kind: "retry", reason };
  }
}
