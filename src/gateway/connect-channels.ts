import type { Channel, ChannelFactory, ChannelPorts, IncomingMessage } from "../channels/channel.ts";
import { tryParseAddress } from "../address/address.ts";
import type { Place } from "../deliveries/post-message.ts";
import type { Sender } from "../deliveries/sender.ts";
import { WaybillError } from "../kernel/errors.ts";

/** The channels of a gateway, joined by kind. */
export interface Channels {
  all: readonly Channel[];
  senders: ReadonlyMap<string, Sender>;
  authorize(incoming: IncomingMessage): true | string;
  allows(place: Place): true | string;
  handlers: ReadonlyMap<string, (request: Request) => Promise<Response>>;
}

/** @throws WaybillError `config_invalid` if two channels have one kind and account */
export function connectChannels(factories: readonly ChannelFactory[], ports: ChannelPorts): Channels {
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
      factory.connect({ ...ports, log: ports.log.child({ channel: factory.kind }) }),
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
  return {
    ...delegate(first.sender),
    allows: (address, width) =>
      pick(address.account)?.allows(address, width) ?? `no account ${address.account}`,
    send: (op, signal) =>
      pick(op.address.account)?.send(op, signal) ??
      Promise.resolve({ kind: "blocked", reason: `no account ${op.address.account}` }),
    reconcile: (op, signal) =>
      pick(op.address.account)?.reconcile(op, signal) ??
      Promise.resolve({ kind: "unknown", reason: `no account ${op.address.account}` }),
  };
}

/** A sender may be an instance of a class, whose methods a spread would lose. */
function delegate(sender: Sender): Sender {
  return {
    channel: sender.channel,
    inTransaction: sender.inTransaction,
    can: sender.can,
    allows: (address, kind) => sender.allows(address, kind),
    split: (text) => sender.split(text),
    send: (op, signal) => sender.send(op, signal),
    reconcile: (op, signal) => sender.reconcile(op, signal),
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
        let answer = new Response(null, { status: 404 });
        for (const channel of handling) {
          answer = await (channel.handle?.(request.clone()) ?? answer);
          if (answer.status !== 401 && answer.status !== 404) break;
        }
        return answer;
      },
    ],
  ];
}
