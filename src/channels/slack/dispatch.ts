import { formatAddress, inThread, type Address } from "../../address/address.ts";
import { asWaybillError, httpStatusOf } from "../../kernel/errors.ts";
import type { IncomingMessage } from "../channel.ts";
import { authorize } from "./allow.ts";
import { readableText } from "./readable-text.ts";
import { readEvent, type Envelope, type Self, type SlackMessage } from "./read-event.ts";
import type { Workspace } from "./workspace.ts";

/** What became of an event. It is told to Slack's servers, which do not read it, and to whoever tests us. */
export type Dispatched =
  | { turn: string; run: string | null; address: string }
  | { changed: string }
  /** A code of error-codes.ts, or a few words. */
  | { ignored: string };

/**
 * Takes one event in, and resolves when what it led to is committed: only then may it be acknowledged. HTTP and Socket
 * Mode both call this.
 * @throws WaybillError for what may succeed later, with a status of 500 and more: it is not to be acknowledged, so that
 *   Slack sends it again
 */
export async function dispatch(
  workspace: Workspace,
  envelope: Envelope,
  retried = false,
): Promise<Dispatched> {
  const { log } = workspace.ports;
  const self = await workspace.self();
  const reading = readEvent(envelope, self);
  switch (reading.kind) {
    case "message":
      if (!(await isForUs(workspace, reading.message, reading.mentioned, self))) {
        return { ignored: "nobody named the bot" };
      }
      return settle(workspace, () => accept(workspace, reading.message, self, retried));
    case "changed":
      return settle(workspace, () => change(workspace, reading.message, self, "amend"));
    case "deleted":
      workspace.threads.forget(reading.message.conversation, reading.message.ts);
      if (reading.message.user === "") return { ignored: "it was not a person's" };
      return settle(workspace, () => change(workspace, reading.message, self, "withdraw"));
    case "other":
      log.debug({ type: reading.type }, "an event of Slack that nothing here needs");
      return { ignored: `events of the type ${reading.type}` };
    case "ignored":
      if (reading.unexpected) log.warn({ why: reading.why }, "an event of Slack was not understood");
      else log.debug({ why: reading.why }, "an event of Slack was ignored");
      return { ignored: reading.why };
  }
}

/** What is refused for good is acknowledged: sent again, it would be refused again. */
async function settle(workspace: Workspace, work: () => Promise<Dispatched>): Promise<Dispatched> {
  try {
    return await work();
  } catch (thrown) {
    const error = asWaybillError(thrown);
    if (httpStatusOf(error.code) >= 500) throw thrown;
    // Its message names the id to copy, or the rule that was broken.
    workspace.ports.log.warn({ code: error.code }, `an event of Slack was refused: ${error.message}`);
    return { ignored: error.code };
  }
}

async function isForUs(
  workspace: Workspace,
  message: SlackMessage,
  mentioned: boolean,
  self: Self,
): Promise<boolean> {
  const { settings, directory, ports } = workspace;
  if (mentioned || settings.listen === "all") return true;
  if (message.thread !== null && message.threadAuthor === self.userId) return true;
  const { kind } = await directory.place(message.conversation, message.channelType);
  if (kind === "dm") return true;
  return message.thread !== null && ports.knows(addressOf(workspace, message));
}

function addressOf({ settings }: Workspace, { conversation, thread }: SlackMessage): Address {
  return { channel: "slack", account: settings.account, conversation, thread };
}

async function accept(
  workspace: Workspace,
  message: SlackMessage,
  self: Self,
  retried: boolean,
): Promise<Dispatched> {
  const { ports, settings, threads } = workspace;
  const { ts, thread, user } = message;
  const [place, name] = await Promise.all([placeOf(workspace, message), workspace.directory.person(user)]);
  const bare: IncomingMessage = {
    place,
    id: ts,
    sender: { id: user, name },
    principal: null,
    text: "",
    parts: [],
    ...(retried ? { retried } : {}),
  };
  const allowed = authorize(settings, bare);
  if (allowed !== true) {
    ports.log.warn(
      { user, name, conversation: message.conversation, title: place.title ?? null },
      `Slack: ${name ?? "somebody"} (${user}) was turned away: ${allowed}`,
    );
    // The inbox keeps the one record of it; nothing of what was said is looked at.
    const { turn, run, address } = await ports.inbox.accept(bare);
    return { turn, run, address };
  }
  // Whoever just wrote in a thread, or below whose message one will open, has shown that it is there.
  threads.saw(message.conversation, thread ?? ts);
  const [text, files] = await Promise.all([textOf(workspace, message, self), workspace.files.take(message)]);
  const incoming: IncomingMessage = {
    ...bare,
    text,
    parts: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...files.parts],
    ...(files.leftOut.length === 0 ? {} : { leftOut: files.leftOut }),
    ...answerPlace(workspace, message, place),
  };
  const { turn, run, address } = await ports.inbox.accept(incoming);
  return { turn, run, address };
}

async function change(
  workspace: Workspace,
  message: SlackMessage,
  self: Self,
  what: "amend" | "withdraw",
): Promise<Dispatched> {
  const { inbox } = workspace.ports;
  const { ts: id, user } = message;
  const [place, name] = await Promise.all([placeOf(workspace, message), workspace.directory.person(user)]);
  const which = { place, id, sender: { id: user, name } };
  if (what === "withdraw") return { changed: await inbox.withdraw(which) };
  return { changed: await inbox.amend({ ...which, text: await textOf(workspace, message, self) }) };
}

async function textOf({ directory }: Workspace, { text }: SlackMessage, self: Self): Promise<string> {
  const said = await readableText(text, self, directory);
  return said.replaceAll("\0", "").toWellFormed();
}

async function placeOf(workspace: Workspace, message: SlackMessage): Promise<IncomingMessage["place"]> {
  const address = addressOf(workspace, message);
  const { kind, title } = await workspace.directory.place(message.conversation, message.channelType);
  return {
    address: formatAddress(address),
    parent: address.thread === null ? null : formatAddress({ ...address, thread: null }),
    channel: "slack",
    account: address.account,
    kind,
    title,
  };
}

/** With `answerIn: "thread"` the answer to a message at the top level opens a thread below it. */
function answerPlace(
  workspace: Workspace,
  message: SlackMessage,
  place: IncomingMessage["place"],
): { answerIn?: IncomingMessage["place"] } {
  if (workspace.settings.answerIn === "conversation" || message.thread !== null) return {};
  const address = formatAddress(inThread(addressOf(workspace, message), message.ts));
  return { answerIn: { ...place, address, parent: place.address } };
}
