import type { AgentRegistry } from "../agents/registry.ts";
import type { Database } from "../db/database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Logger } from "../kernel/logger.ts";
import type { RunState } from "../ledger/run.ts";
import type { ToolDoor } from "../runs/tool-door.ts";
import type { StreamStore } from "../streams/stream.ts";
import type { Locale } from "../texts/render.ts";
import type { Schedules } from "../schedules/schedules.ts";
import type { Accepted, Inbox } from "../turns/incoming.ts";
import type { SlotName } from "../turns/slots.ts";
import type { WireChannel } from "./api.ts";

/** Who may come in, and how much of it. */
export interface Door {
  /** The operator's token; null: none is asked, which only a loopback listener may do. */
  token: string | null;
  /** True if the server listens on loopback only. */
  loopback: boolean;
  /** Host names (with port or without) that requests may carry, besides loopback ones. */
  hosts: readonly string[];
  /** Origins of browsers that may call, besides the server's own. */
  origins: readonly string[];
  /** Bytes of a request body at most. */
  bodyBytes: number;
  /** Requests a minute of one caller; null: not limited. */
  perMinute: number | null;
}

/** What changed somewhere, as hints: whoever hears one looks into the store. */
export type FeedHint =
  | { kind: "posted"; address: string }
  | { kind: "run"; address: string; run: string; state: RunState }
  | { kind: "delivery"; address: string; delivery: string };

export interface Feed {
  /** Hears hints of one address, or of all (`null`). Returns how to stop. */
  subscribe(address: string | null, hear: (hint: FeedHint) => void): () => void;
}

/** A send by an agent or an operator through a door (`POST /v1/sends`, `waybill send`). */
export interface SendRequest {
  /** An address; `last-active` or `latest-seen` with `account`, for a send that belongs to no run. */
  to: string;
  account?: string;
  text: string;
  /** The run in whose name it is sent; left out: the operator's own. */
  run?: string;
  /** The idempotency key. */
  id?: string;
}

/** What the HTTP server needs; the gateway makes it. */
export interface HttpPorts {
  version: string;
  tenant: string;
  db: Database;
  clock: Clock;
  ids: Ids;
  log: Logger;
  locale: Locale;
  door: Door;
  /** This process: the boot id under which it owns runs. Null: the store is only read, and nothing runs. */
  node: { boot: string; pid: number } | null;
  agents: AgentRegistry;
  inbox: Inbox;
  streams: StreamStore;
  feed: Feed;
  /** The folder of the built console; null: none is served, and `/` is the small page. */
  consoleDir: string | null;
  /** How each channel of this node stands. */
  channelStates(): WireChannel[];
  /** Below `/channels/{kind}/`. */
  channels: ReadonlyMap<string, (request: Request) => Promise<Response>>;
  /** @throws WaybillError `unknown_run`, `run_finished` */
  cancelRun(run: string, reason: string): Promise<{ run: string; how: string }>;
  /** Stops all that is live at an address. @returns the runs that were asked to end */
  stopPlace(address: string): Promise<string[]>;
  /** Asks again what a run that did not complete was asked. @throws `unknown_run`, `run_not_retryable` */
  retryRun(run: string): Promise<Accepted>;
  /**
   * `to` completes one that is held for want of an address.
   * @throws WaybillError `unknown_delivery`, `delivery_not_retryable`, `no_destination`, `destination_not_allowed`
   */
  retryDelivery(delivery: string, to?: string): Promise<{ state: string }>;
  schedules: Omit<Schedules, "sync">;
  /** @returns what stood there, or null */
  clearSlot(account: string, slot: SlotName): Promise<string | null>;
  /** @throws WaybillError `destination_not_allowed`, `cross_post_not_allowed`, `invalid_address`, `unknown_run` */
  send(request: SendRequest): Promise<{ delivery: string; address: string; state: string }>;
  /** What a token for tools opens. */
  tools: ToolDoor;
  /** Aborts when the gateway has stopped: what is still being answered then (live feeds) ends. */
  stopped?: AbortSignal;
  /** False while it starts or stops, or when the store does not answer. */
  ready(): Promise<{ ready: boolean; reason: string | null }>;
  /** Metrics in Prometheus' text format. */
  metrics(): Promise<{ contentType: string; body: string }>;
}
