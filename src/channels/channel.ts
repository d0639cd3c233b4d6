import type { Sender } from "../deliveries/sender.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Inbox, IncomingMessage } from "../turns/incoming.ts";

export type { IncomingMessage, Inbox } from "../turns/incoming.ts";
export type { OutgoingOp, Receipt, ReconcileOutcome, Sender, SendOutcome } from "../deliveries/sender.ts";

/** What a channel is given. */
export interface ChannelPorts {
  inbox: Inbox;
  clock: Clock;
  ids: Ids;
  log: Logger;
  /** True if this is the only account of its kind, so that a request need not name it. */
  alone?: boolean;
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
  start?(): Promise<void>;
  stop?(): Promise<void>;
}

/** What `webhook({...})` or `slack({...})` in the settings makes: validated, not yet connected. */
export interface ChannelFactory {
  readonly kind: string;
  readonly account: string;
  connect(ports: ChannelPorts): Channel;
}
