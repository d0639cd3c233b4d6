import type { OutgoingOp, Receipt, ReconcileOutcome, SendOutcome } from "../channel.ts";
import type { Bot } from "./bot.ts";
import { formatMarkdown } from "./format.ts";
import { failureOf, isAlreadyGone, isBadFormat, isUnchanged, outcomeOf } from "./telegram-api.ts";

/** What Telegram says of a post that it has made, as far as it is looked at. */
interface Posted {
  message_id: number;
  message_thread_id?: number;
  chat?: { id: number; type: string; username?: string };
}

/** Sends one op. */
export async function send(bot: Bot, op: OutgoingOp): Promise<SendOutcome> {
  try {
    const outcome = await sendAs(bot, op);
    bot.heard(null);
    return outcome;
  } catch (thrown) {
    bot.heard(thrown);
    return outcomeOf(thrown);
  }
}

function sendAs(bot: Bot, op: OutgoingOp): Promise<SendOutcome> {
  switch (op.kind) {
    case "create":
      return create(bot, op);
    case "edit":
      return op.target === null ? create(bot, op) : edit(bot, op, Number(op.target));
    case "delete":
      return remove(bot, op, Number(op.target));
  }
}

async function create(bot: Bot, op: OutgoingOp): Promise<SendOutcome> {
  const chat = Number(op.address.conversation);
  const topic = op.address.thread === null ? null : Number(op.address.thread);
  // Of white space alone Telegram makes no post.
  if (op.text.trim() === "") return { kind: "sent", receipt: { platformId: op.key } };
  const posted: Posted = await showing(op.text, (body) =>
    bot.api.sendMessage({
      chat_id: chat,
      ...(topic === null ? {} : { message_thread_id: topic }),
      ...body,
      link_preview_options: { is_disabled: true },
    }),
  );
  if (!Number.isSafeInteger(posted.message_id)) {
    return { kind: "unclear", reason: "Telegram took the post and gave no id for it" };
  }
  if (topic !== null && posted.message_thread_id !== topic) return takeBack(bot, chat, posted.message_id);
  return { kind: "sent", receipt: receiptOf(posted, topic) };
}

/**
 * In private chats Telegram was seen to ignore a topic that is gone (tdlib/telegram-bot-api, issue 854): what stands
 * elsewhere is taken back at once.
 */
async function takeBack(bot: Bot, chat: number, post: number): Promise<SendOutcome> {
  const reason = "the topic does not exist any more";
  try {
    await bot.api.deleteMessage({ chat_id: chat, message_id: post });
    return { kind: "blocked", reason };
  } catch (thrown) {
    const why = failureOf(thrown).reason;
    return {
      kind: "blocked",
      reason: `${reason}; Telegram put the post ${post} at the top level, and it could not be taken back: ${why}`,
    };
  }
}

async function edit(bot: Bot, op: OutgoingOp, target: number): Promise<SendOutcome> {
  await editText(bot, Number(op.address.conversation), target, op.text);
  return { kind: "sent", receipt: { platformId: String(target) } };
}

/** Puts another text into a post; the same text again is as good. */
export async function editText(
  bot: Bot,
  chat: number,
  post: number,
  text: string,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await showing(text, (body) =>
      bot.api.editMessageText(
        { chat_id: chat, message_id: post, ...body, link_preview_options: { is_disabled: true } },
        signal as never,
      ),
    );
  } catch (thrown) {
    if (!isUnchanged(failureOf(thrown))) throw thrown;
  }
}

async function remove(bot: Bot, op: OutgoingOp, target: number): Promise<SendOutcome> {
  try {
    await bot.api.deleteMessage({ chat_id: Number(op.address.conversation), message_id: target });
  } catch (thrown) {
    if (!isAlreadyGone(failureOf(thrown))) throw thrown;
  }
  return { kind: "sent", receipt: { platformId: String(target) } };
}

/** Posts what is bold as bold; where Telegram does not take the marks, the text as the agent wrote it. */
async function showing<T>(
  markdown: string,
  call: (body: { text: string; entities?: never }) => Promise<T>,
): Promise<T> {
  const { text, entities } = formatMarkdown(markdown);
  // What is nothing but marks would be an empty post.
  if (entities.length === 0 || text.trim() === "")
    return call({ text: text.trim() === "" ? markdown : text });
  try {
    // The client's type has a member for each kind of entity; ours are of those.
    return await call({ text, entities: entities as never });
  } catch (thrown) {
    if (!isBadFormat(failureOf(thrown))) throw thrown;
    return call({ text: markdown });
  }
}

/** The post's id, and its link: in supergroups and channels posts have one, which opens for whoever may read there. */
function receiptOf({ message_id: id, chat }: Posted, topic: number | null): Receipt {
  const platformId = String(id);
  if (!chat || (chat.type !== "supergroup" && chat.type !== "channel"))
    return { platformId, permalink: null };
  const place = chat.username ?? `c/${String(chat.id).replace(/^-100/, "")}`;
  return { platformId, permalink: ["https://t.me", place, ...(topic === null ? [] : [topic]), id].join("/") };
}

/**
 * Settles an attempt whose outcome is unclear: an edit or a deletion may be done again without harm. Of a post nobody can
 * tell: a bot cannot read what stands in a chat, and Telegram knows no key by which it would tell a repetition.
 */
export function reconcile(op: OutgoingOp): Promise<ReconcileOutcome> {
  if (op.kind !== "create" && op.target !== null) return Promise.resolve({ kind: "send-again" });
  return Promise.resolve({
    kind: "unknown",
    reason:
      "Telegram did not answer whether it was posted, and a bot cannot look; look in the chat before you send it again",
  });
}
