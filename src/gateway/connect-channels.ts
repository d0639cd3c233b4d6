import type { Channel, ChannelFactory, ChannelPorts, IncomingMessage } from "../channels/channel.ts";
import { tryParseAddress } from "../address/address.ts";
import type { Place } from "../deliveries/post-message.ts";
import type { Sender } from "../deliveries/sender.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { ChannelStates } from "./channel-states.ts";

/** The channels of a gateway, joined by kind. */
export interface Channels {
  all: readonly Channel[];
  senders: ReadonlyMap<string, Sender>;
  authorize(incoming: IncomingMessage): true | string;
  allows(place: Place): true | string;
  handlers: ReadonlyMap<string, (request: Request) => Promise<Response>>;
}

/** @throws WaybillError `config_invalid` if two channels have one kind and account */
export function connectChannels(
  factories: readonly ChannelFactory[],
  ports: Omit<ChannelPorts, "alone" | "report">,
  states: ChannelStates,
): Channels {
  const byKind = new Map<string, Channel[]>();
  for (const factory of factories) {
    const same = byKind.get(factory.kind) ?? [];
    if (same.some((one) => one.account === factory.account)) {
      throw new WaybillError(
        "config_invalid",
        `channels: there are two of kind ${factory.kind} with the account ${factory.account}. Give one of them another account.`,
        { field: "channels" },
      );
    }
    byKind.set(factory.kind, [
      ...same,
      factory.connect({
        ...ports,
        log: ports.log.child({ channel: factory.kind }),
        alone: factories.filter((one) => one.kind === factory.kind).length === 1,
        report: (state) => states.report(factory.kind, factory.account, state),
      }),
    ]);
  }
  const find = (kind: string, account: string): Channel | undefined =>
    byKind.get(kind)?.find((channel) => channel.account === account);
  const senders = new Map([...byKind].map(([kind, channels]) => [kind, joinSenders(kind, channels)]));
  return {
    all: [...byKind.values()].flat(),
    senders,
    authorize: (incoming) => {
      const { channel, account } = incoming.place;
      return (
        find(channel, account)?.authorize(incoming) ?? `no channel ${channel} with the account ${account}`
      );
    },
    allows: (place) => allowsPlace(senders, place),
    handlers: new Map([...byKind].flatMap(([kind, channels]) => handlerOf(kind, channels))),
  };
}

function allowsPlace(senders: ReadonlyMap<string, Sender>, place: Place): true | string {
  const address = tryParseAddress(place.address);
  if (!address) return "it is not an address";
  return (
    senders.get(place.channel)?.allows(address, place.kind) ?? `no channel ${place.channel} is configured`
  );
}

/** One sender for all accounts of a kind: the account of the address picks. */
function joinSenders(kind: string, channels: readonly Channel[]): Sender {
  const [first, second] = channels;
  if (!first) throw new TypeError(`No channel of kind ${kind}.`);
  if (!second) return restrictToAccount(first);
  const pick = (account: string): Sender | undefined =>
    channels.find((one) => one.account === account)?.sender;
  const all = (can: keyof Sender["can"]): boolean => channels.every(({ sender }) => sender.can[can]);
  return {
    ...delegate(first.sender),
    can: { edit: all("edit"), delete: all("delete"), preview: all("preview") },
    split: (text, account) => (pick(account) ?? first.sender).split(text, account),
    allows: (address, width) =>
      pick(address.account)?.allows(address, width) ?? `no account ${address.account}`,
    send: (op, signal) =>
      pick(op.address.account)?.send(op, signal) ??
      Promise.resolve({ kind: "blocked", reason: `no account ${op.address.account}` }),
    reconcile: (op, signal) =>
      pick(op.address.account)?.reconcile(op, signal) ??
      Promise.resolve({ kind: "unknown", reason: `no account ${op.address.account}` }),
    ...joinLife(channels, pick),
  };
}

/** Each account shows what it can; calls come as seldom as the slowest of them wants. */
function joinLife(
  channels: readonly Channel[],
  pick: (account: string) => Sender | undefined,
): Pick<Sender, "live"> {
  const lives = channels.flatMap(({ sender }) => sender.live ?? []);
  if (lives.length === 0) return {};
  return {
    live: {
      everyMs: Math.max(...lives.map(({ everyMs }) => everyMs)),
      working: (address, signal) => pick(address.account)?.live?.working?.(address, signal),
      show: async (post, signal) => pick(post.address.account)?.live?.show?.(post, signal),
    },
  };
}

/** A sender may be an instance of a class, whose methods a spread would lose. */
function delegate(sender: Sender): Sender {
  return {
    channel: sender.channel,
    inTransaction: sender.inTransaction,
    can: sender.can,
    allows: (address, kind) => sender.allows(address, kind),
    split: (text, account) => sender.split(text, account),
    send: (op, signal) => sender.send(op, signal),
    reconcile: (op, signal) => sender.reconcile(op, signal),
    ...(sender.live ? { live: sender.live } : {}),
  };
}

function restrictToAccount(channel: Channel): Sender {
  const { sender, account } = channel;
  return {
    ...delegate(sender),
    allows: (address, width) =>
      address.account === account ? sender.allows(address, width) : `no account ${address.account}`,
  };
}

function handlerOf(
  kind: string,
  channels: readonly Channel[],
): [string, (request: Request) => Promise<Response>][] {
  const handling = channels.filter((channel) => channel.handle !== undefined);
  if (handling.length === 0) return [];
  return [
    [
      kind,
      async (request) => {
        // Each account verifies its own signatures; one that does not know the request leaves it to the next.
        let refusal = new WaybillError("not_found", `There is nothing here for ${kind}.`);
        for (const channel of handling) {
          try {
            const answer = await channel.handle?.(request.clone());
            if (answer) return answer;
          } catch (error) {
            if (!isForAnother(error)) throw error;
            // "Here, but not with this signature" says more than "not here".
            if (refusal.code === "not_found") refusal = error;
          }
        }
        throw refusal;
      },
    ],
  ];
}

function isForAnother(error: unknown): error is WaybillError {
  return error instanceof WaybillError && (error.code === "not_found" || error.code === "invalid_signature");
}
