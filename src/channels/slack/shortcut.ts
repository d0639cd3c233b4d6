import { z } from "zod";
import { formatAddress, type Address } from "../../address/address.ts";
import { renderText } from "../../texts/render.ts";
import { authorize } from "./allow.ts";
import { whyShortcut } from "./manifest.ts";
import { plainPost } from "./plain-text.ts";
import { failureOf } from "./slack-api.ts";
import type { SlackSettings } from "./slack-settings.ts";
import type { Workspace } from "./workspace.ts";

const id = z.string().min(1).max(200);

const shape = z.object({
  type: z.literal("message_action"),
  callback_id: z.literal(whyShortcut),
  team: z.object({ id: id.nullish() }).nullish(),
  user: z.object({ id }),
  channel: z.object({ id }),
  message: z.object({ ts: id, thread_ts: id.nullish(), user: id.nullish(), bot_id: id.nullish() }),
  response_url: z.string().max(2_000).nullish(),
});
export type WhyRequest = z.infer<typeof shape>;

/** The workspace that a payload is from, or null. Of an app that belongs to an organisation Slack may name none. */
export function teamOf(payload: unknown): string | null {
  const read = whose.safeParse(payload);
  return read.data?.team?.id ?? read.data?.user?.team_id ?? null;
}

const whose = z.object({
  team: z.object({ id: id.nullish() }).nullish(),
  user: z.object({ team_id: id.nullish() }).nullish(),
});

/**
 * Takes a payload of `interactive`. Nothing of it is stored, so it is acknowledged at once, and the answer comes after
 * that; where it fails the log says so.
 */
export function interact(workspace: Workspace, payload: unknown): void {
  const read = shape.safeParse(payload);
  const { log } = workspace.ports;
  if (!read.success) {
    log.debug({}, "an interaction of Slack that nothing here needs");
    return;
  }
  void answer(workspace, read.data).catch((thrown: unknown) => {
    log.warn({ reason: failureOf(thrown).reason }, 'a "Why here?" could not be answered');
  });
}

async function answer(workspace: Workspace, request: WhyRequest): Promise<void> {
  const text = plainPost(await sayWhy(workspace, request)).text;
  const { response_url: url, channel, user, message } = request;
  if (url && mayBeAnswered(url, workspace.settings) && (await respond(workspace, url, request, text))) return;
  const thread = message.thread_ts ?? null;
  await workspace.api.chat.postEphemeral({
    channel: channel.id,
    user: user.id,
    text,
    ...(thread === null ? {} : { thread_ts: thread }),
  });
}

/** Only of posts of our own, and only to people who may speak to agents there. */
async function sayWhy(workspace: Workspace, { user, channel, message }: WhyRequest): Promise<string> {
  const { settings, directory, ports } = workspace;
  const locale = ports.locale ?? "en";
  const thread = message.thread_ts && message.thread_ts !== message.ts ? message.thread_ts : null;
  const address: Address = { channel: "slack", account: settings.account, conversation: channel.id, thread };
  const { kind } = await directory.place(channel.id, null);
  const place = {
    address: formatAddress(address),
    parent: null,
    channel: "slack",
    account: settings.account,
    kind,
  };
  const sender = { id: user.id, name: null };
  const allowed = authorize(settings, {
    place,
    id: message.ts,
    sender,
    principal: null,
    text: "",
    parts: [],
  });
  if (allowed !== true) {
    ports.log.warn({ user: user.id }, `Slack: ${user.id} was told nothing of a post: ${allowed}`);
    return renderText(locale, "sender.denied", { sender: user.id, address: place.address });
  }
  const self = await workspace.self();
  const isOurs = message.user === self.userId || (self.botId !== null && message.bot_id === self.botId);
  return isOurs ? ports.why(message.ts, address) : renderText(locale, "why.not_mine");
}

/** The address for an answer stands in the payload; it is Slack's own, or nothing is sent there. */
export function mayBeAnswered(url: string, { apiUrl }: Pick<SlackSettings, "apiUrl">): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host, origin, username, password } = new URL(url);
  if (username !== "" || password !== "") return false;
  const api = new URL(apiUrl);
  if (origin === api.origin) return true;
  return protocol === "https:" && (host === "hooks.slack.com" || host === `hooks.${api.hostname}`);
}

/** True if Slack took it. */
async function respond(
  { ports, settings }: Workspace,
  url: string,
  { message }: WhyRequest,
  text: string,
): Promise<boolean> {
  const late = new AbortController();
  const cancel = ports.clock.after(settings.timeoutMs, () => late.abort());
  const thread = message.thread_ts ? { thread_ts: message.thread_ts } : {};
  try {
    const answered = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ response_type: "ephemeral", replace_original: false, text, ...thread }),
      redirect: "manual",
      signal: late.signal,
    });
    await answered.body?.cancel();
    return answered.ok;
  } catch {
    return false;
  } finally {
    cancel();
  }
}
