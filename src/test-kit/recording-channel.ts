import type { Address } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import { matches, parsePattern } from "../address/pattern.ts";
import type { Channel, ChannelFactory, ChannelPorts, IncomingMessage } from "../channels/channel.ts";
import { placeOf } from "../deliveries/plan-delivery.ts";
import type { LiveSender, OutgoingOp, ReconcileOutcome, SendOutcome } from "../deliveries/sender.ts";
import type { Accepted, ChangeOutcome } from "../turns/incoming.ts";
import { FakePlatform, type PlatformPost, type ScriptedOutcome } from "./fake-platform.ts";

export interface RecordingChannelOptions {
  /** What addresses of it begin with. */
  kind: string;
  /** Default `test`. */
  account?: string;
  /** Ids of senders who may speak, and patterns of places that may be posted to. Left out (in this fake only): all. */
  allow?: { senders?: readonly string[]; places?: readonly string[] };
  /** What the platform can do. Default: edit and delete, and no preview. */
  can?: { edit?: boolean; delete?: boolean; preview?: boolean };
  /** What the platform shows of a run before its answer. Default: nothing. */
  live?: LiveSender;
  /** Characters of one post; longer texts are split. Default: no limit. */
  limit?: number;
  /**
   * How an op whose answer never came is settled: the platform's posts are looked through for its key (`read-back`,
   * the default), the platform deduplicates by key (`send-again`), or nobody can tell (`unknown`).
   */
  reconcile?: "read-back" | "send-again" | "unknown";
}

export interface ReceiveOptions {
  thread?: string;
  /** How wide the conversation is. Default `dm`. */
  kind?: ConversationKind;
  sender?: string;
  /** What the platform calls the sender. Default: nothing. */
  name?: string;
  /** The platform's id of the message. Default: counts up. */
  id?: string;
  agent?: string;
  parts?: IncomingMessage["parts"];
  leftOut?: IncomingMessage["leftOut"];
  /** The thread in which the answer is due, where the platform opens one below the message. */
  answerIn?: string;
  /** The platform says that it sent this before. */
  retried?: boolean;
}

/** A channel whose platform is this object: nothing goes over a network, and everything is recorded. */
export interface RecordingChannel extends ChannelFactory {
  /** Every op that was attempted, in order, with what came of it. */
  readonly attempts: readonly { op: OutgoingOp; outcome: SendOutcome["kind"] | "threw" }[];
  /** The posts that stand on the platform now, in order of their creation; edits are done in place. */
  posts(address?: string): PlatformPost[];
  /** Outcomes of the next attempts, each used once; after them every attempt succeeds. */
  script(...outcomes: ScriptedOutcome[]): void;
  /** Attempts that hang end now, without an answer. */
  release(): void;
  /** The place is gone from now on: attempts to post there are `blocked` with this reason. */
  close(address: string, reason?: string): void;
  /** Takes away or gives back the right to post there, as an operator who changes the allowlist. */
  forbid(pattern: string): void;
  /** Resolves when at least so many attempts have been made. */
  attempted(count: number): Promise<void>;
  /** Says something on the platform, as a person does there. */
  receive(conversation: string, text: string, options?: ReceiveOptions): Promise<Accepted>;
  /** Changes a message there, as its sender does. */
  amend(conversation: string, id: string, text: string, options?: ReceiveOptions): Promise<ChangeOutcome>;
  /** Takes a message back there. */
  withdraw(conversation: string, id: string, options?: ReceiveOptions): Promise<ChangeOutcome>;
}

/**
 * A channel for tests. It survives `restart()`, as a platform does.
 *
 *   const chat = recordingChannel({ kind: "chat" });
 *   await using t = await testGateway({ agents, channels: [chat] });
 *   chat.script({ kind: "retry", afterMs: 10 });
 *   await t.say("hi", { address: "chat:test/room" });
 *   chat.posts("chat:test/room"); // one post, after two attempts
 */
export function recordingChannel(options: RecordingChannelOptions): RecordingChannel {
  const { kind, account = "test" } = options;
  const platform = new FakePlatform();
  const forbidden: string[] = [];
  let ports: ChannelPorts | null = null;
  let received = 0;
  const inbox = (): ChannelPorts["inbox"] => {
    if (ports) return ports.inbox;
    throw new TypeError(`The channel ${kind} is not connected: give it to testGateway first.`);
  };
  const placeAt = (conversation: string, thread: string | undefined, how: ReceiveOptions) =>
    placeOf({ channel: kind, account, conversation, thread: thread ?? null }, how.kind ?? "dm");
  const changeOf = (conversation: string, id: string, how: ReceiveOptions) => ({
    place: placeAt(conversation, how.thread, how),
    id,
    sender: { id: how.sender ?? "tester", name: how.name ?? null },
  });
  return {
    kind,
    account,
    connect(given) {
      ports = given;
      return connected(options, account, platform, forbidden);
    },
    attempts: platform.attempts,
    posts: (address) => platform.posts(address),
    script: (...outcomes) => platform.script(...outcomes),
    release: () => platform.release(),
    close: (address, reason = "the place is gone") => platform.close(address, reason),
    forbid: (pattern) => void forbidden.push(pattern),
    attempted: (count) => platform.attempted(count),
    async amend(conversation, id, text, how = {}) {
      return inbox().amend({ ...changeOf(conversation, id, how), text });
    },
    async withdraw(conversation, id, how = {}) {
      return inbox().withdraw(changeOf(conversation, id, how));
    },
    async receive(conversation, text, how = {}) {
      const { agent, leftOut, retried, answerIn } = how;
      received += 1;
      return inbox().accept({
        place: placeAt(conversation, how.thread, how),
        ...(answerIn === undefined ? {} : { answerIn: placeAt(conversation, answerIn, how) }),
        id: how.id ?? `m-${received}`,
        sender: { id: how.sender ?? "tester", name: how.name ?? null },
        principal: null,
        text,
        parts: how.parts ?? [{ type: "text", text }],
        ...(agent === undefined ? {} : { agent }),
        ...(leftOut === undefined ? {} : { leftOut }),
        ...(retried === undefined ? {} : { retried }),
      });
    },
  };
}

function connected(
  options: RecordingChannelOptions,
  account: string,
  platform: FakePlatform,
  forbidden: readonly string[],
): Channel {
  const { kind, allow, can, limit } = options;
  const within = (pattern: string, address: Address): boolean => matches(parsePattern(pattern), address);
  const allows = (address: Address): true | string => {
    if (forbidden.some((pattern) => within(pattern, address))) return "the operator has closed this place";
    const { places } = allow ?? {};
    return !places || places.some((pattern) => within(pattern, address)) || "it is not on the allowlist";
  };
  return {
    kind,
    account,
    authorize: ({ sender }) =>
      !allow?.senders || allow.senders.includes(sender.id) || "the sender is not on the allowlist",
    sender: {
      channel: kind,
      inTransaction: false,
      can: { edit: can?.edit ?? true, delete: can?.delete ?? true, preview: can?.preview ?? false },
      allows,
      split: (text) => split(text, limit ?? Number.POSITIVE_INFINITY),
      send: (op, signal) => platform.send(op, signal),
      reconcile: (op) => Promise.resolve(reconcile(options.reconcile ?? "read-back", platform, op)),
      ...(options.live ? { live: options.live } : {}),
    },
  };
}

function split(text: string, limit: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += limit) pieces.push(text.slice(at, at + limit));
  return pieces.length === 0 ? [text] : pieces;
}

function reconcile(how: string, platform: FakePlatform, op: OutgoingOp): ReconcileOutcome {
  if (how === "send-again") return { kind: "send-again" };
  if (how === "unknown") return { kind: "unknown", reason: "this platform cannot be asked" };
  const receipt = platform.receiptOf(op.key);
  return receipt ? { kind: "found", receipt } : { kind: "send-again" };
}
