import type { OutgoingOp, Receipt, SendOutcome } from "../channel.ts";
import { failureOf, outcomeOf } from "./slack-api.ts";
import type { Workspace } from "./workspace.ts";

/** What a post looks like. `text` carries the whole of it, for notifications and whoever cannot see blocks. */
export interface PostBody {
  text: string;
  blocks?: Record<string, unknown>[];
}

export type Render = (text: string) => PostBody;

/** The type of the metadata by which we know our own posts again. */
export const markerType = "waybill";

/** A link is worth so much of an attempt's time. */
const linkMs = 2_000;

/** Sends one op. */
export async function send(workspace: Workspace, render: Render, op: OutgoingOp): Promise<SendOutcome> {
  try {
    const outcome = await sendAs(workspace, render, op);
    workspace.heard(null);
    return outcome;
  } catch (thrown) {
    workspace.heard(thrown);
    return outcomeOf(thrown);
  }
}

function sendAs(workspace: Workspace, render: Render, op: OutgoingOp): Promise<SendOutcome> {
  switch (op.kind) {
    case "create":
      return create(workspace, render, op);
    case "edit":
      return edit(workspace, render, op);
    case "delete":
      return remove(workspace, op);
  }
}

async function create(workspace: Workspace, render: Render, op: OutgoingOp): Promise<SendOutcome> {
  const { conversation, thread } = op.address;
  const closed = thread === null ? null : await workspace.threads.check(conversation, thread);
  if (closed !== null) return closed;
  const { ts, message } = await showing(render(op.text), (post) =>
    workspace.api.chat.postMessage({
      channel: conversation,
      ...post,
      ...(thread === null ? {} : { thread_ts: thread }),
      metadata: { event_type: markerType, event_payload: { delivery: op.delivery, op: op.key } },
      unfurl_links: false,
      unfurl_media: false,
    }),
  );
  if (!ts) return { kind: "unclear", reason: "Slack took the post and gave no id for it" };
  if (thread !== null && message && message.thread_ts !== thread) {
    // Slack showed it at the top level after all: it is taken back at once.
    await workspace.api.chat.delete({ channel: conversation, ts });
    return { kind: "blocked", reason: "the thread does not exist any more" };
  }
  return { kind: "sent", receipt: await receiptOf(workspace, conversation, ts) };
}

async function edit(workspace: Workspace, render: Render, op: OutgoingOp): Promise<SendOutcome> {
  const { target } = op;
  if (target === null) return create(workspace, render, op);
  // The metadata is left out: so it stays what it was, and the post can still be found by the op that made it.
  await showing(render(op.text), (post) =>
    // Blocks that are not named stay, so that there are none is said.
    workspace.api.chat.update({ channel: op.address.conversation, ts: target, blocks: [], ...post }),
  );
  return { kind: "sent", receipt: await receiptOf(workspace, op.address.conversation, target) };
}

async function remove(workspace: Workspace, op: OutgoingOp): Promise<SendOutcome> {
  const ts = op.target ?? "";
  try {
    await workspace.api.chat.delete({ channel: op.address.conversation, ts });
  } catch (thrown) {
    const failure = failureOf(thrown);
    // What is not there need not be taken away.
    if (failure.kind !== "refusal" || failure.error !== "message_not_found") throw thrown;
  }
  return { kind: "sent", receipt: { platformId: ts } };
}

/** After these nothing was posted, and it is the blocks that Slack did not like. */
const blockErrors = new Set(["invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"]);

/** Posts with blocks, and with the text alone where this workspace does not take them: nothing is lost for its looks. */
export async function showing<T>(
  { text, blocks }: PostBody,
  call: (post: { text: string; blocks?: never }) => Promise<T>,
): Promise<T> {
  if (!blocks) return call({ text });
  try {
    // Blocks of our making are plain JSON; the client's type has a member for each kind of block.
    return await call({ text, blocks: blocks as never });
  } catch (thrown) {
    const failure = failureOf(thrown);
    if (failure.kind !== "refusal" || !blockErrors.has(failure.error)) throw thrown;
    return call({ text });
  }
}

/** The post's id, and its permalink where that can be had soon. */
export async function receiptOf(workspace: Workspace, conversation: string, ts: string): Promise<Receipt> {
  let cancel = (): void => {};
  const late = new Promise<null>((resolve) => {
    cancel = workspace.ports.clock.after(linkMs, () => resolve(null));
  });
  try {
    const asked = workspace.api.chat.getPermalink({ channel: conversation, message_ts: ts });
    const permalink = (await Promise.race([asked, late]))?.permalink;
    return { platformId: ts, permalink: permalink ?? null };
  } catch {
    return { platformId: ts, permalink: null };
  } finally {
    cancel();
  }
}
