import type { Address } from "../address/address.ts";
import type { Sender } from "../deliveries/sender.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Locale } from "../texts/render.ts";
import type { Inbox, IncomingMessage } from "../turns/incoming.ts";

export type { Accepted, ChangeOutcome, IncomingMessage, Inbox, MessageChange } from "../turns/incoming.ts";
export type {
  LivePost,
  LiveSender,
  OutgoingOp,
  Receipt,
  ReconcileOutcome,
  Sender,
  SendOutcome,
} from "../deliveries/sender.ts";

/** What a channel is given. */
export interface ChannelPorts {
  inbox: Inbox;
  clock: Clock;
  ids: Ids;
  log: Logger;
  /** Of texts that the channel itself writes for people. Left out: English. */
  locale?: Locale;
  /** True if this is the only account of its kind, so that a request need not name it. */
  alone?: boolean;
  /** True if something was asked or posted at this place: such as a thread in which the bot was mentioned before. */
  knows(address: Address): Promise<boolean>;
  /**
   * Why a post stands where it stands, in a person's words; for a "Why here?" of the platform.
   * @param id the platform's id of the post, as in its receipt
   */
  why(id: string, address?: Address): Promise<string>;
  /**
   * Takes what only one process at a time may have: the poller of a bot token. The name must not hold the token itself,
   * but a digest of it. Another node of this store that has it keeps it while it lives.
   */
  hold(name: string): Promise<Hold>;
  /** How the channel stands; shown by `/readyz`, the console and `doctor`. Said again whenever it changes. */
  report(state: ChannelState): void;
}

/** `held: false`: another process has it, and `by` says which. `freed` resolves when it may be tried again. */
export type Hold =
  | { held: true; lost: AbortSignal; release(): Promise<void> }
  | { held: false; by: string; freed: Promise<void> };

/** `off`: it cannot work, and `reason` says what to do; other channels go on. */
export type ChannelState =
  | { kind: "on" }
  | { kind: "connecting"; reason?: string }
  | { kind: "standing-by"; reason: string }
  | { kind: "off"; reason: string };

/** What `doctor` finds out by asking the platform. `fix` is one line that says what to do. */
export interface ChannelFinding {
  ok: boolean;
  text: string;
  fix?: string;
}

/**
 * A channel joins the two ports: it verifies and parses what its platform sends, hands it to the inbox, and
 * acknowledges only after the commit; and it sends what deliveries give it.
 */
export interface Channel {
  /** What addresses of it begin with. */
  readonly kind: string;
  /** The accounts (workspaces, bots) that it serves; one kind may be configured several times with other accounts. */
  readonly account: string;
  readonly sender: Sender;
  /** True, or why this sender may not speak here. Asked first of all; the reason stands in the denial record. */
  authorize(incoming: IncomingMessage): true | string;
  /**
   * Requests below `/channels/{kind}/`. The channel verifies its own signatures.
   * @throws WaybillError answered as a problem; with `not_found` and `invalid_signature` the next account is asked
   */
  handle?(request: Request): Promise<Response>;
  /**
   * Connects. What the platform refuses (an invalid token) is reported as `off` by the gateway, with the error's
   * message, and the other channels go on; what may pass (no network) the channel tries again by itself.
   */
  start?(): Promise<void>;
  stop?(): Promise<void>;
  /** Asks the platform whether token, rights and settings do what is needed; reads only. */
  check?(signal: AbortSignal): Promise<ChannelFinding[]>;
}

/** What `webhook({...})` or `slack({...})` in the settings makes: validated, not yet connected. */
export interface ChannelFactory {
  readonly kind: string;
  readonly account: string;
  connect(ports: ChannelPorts): Channel;
}
