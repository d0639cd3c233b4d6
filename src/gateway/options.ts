import type { Clock } from "../kernel/clock.ts";
import type { CrashPlan } from "../kernel/crash-points.ts";
import type { WaybillError } from "../kernel/errors.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Logger } from "../kernel/logger.ts";
import type { RetrySettings } from "../deliveries/outbox.ts";

/** What surrounds a gateway: where its store is, who may come in, and, for tests, time, ids, chance and crashes. */
export interface GatewayOptions {
  /** Folder of the SQLite file and the key. Default `./.waybill`. */
  dataDir?: string;
  /** `postgres://...`, or `file:...` for SQLite. Default: a file in `dataDir`. */
  databaseUrl?: string;
  /** The operator's token. Left out: none is asked, which is right on loopback only. */
  token?: string;
  /** False if the server that mounts `fetch` can be reached from other machines. Default true. */
  loopback?: boolean;
  /** Where agents' processes on this machine reach the gateway: `http://127.0.0.1:8787`. Left out: tools get no address. */
  url?: string;
  /** Host names that requests may carry besides loopback ones. */
  hosts?: readonly string[];
  /** Origins of web pages that may call, besides the server's own. */
  origins?: readonly string[];
  /** The cluster key, base64url, at least 32 bytes. Default: made in `dataDir` at the first start. */
  key?: string;
  /** The folder of the built console, served at `/`; null: none. Default: the one of this package. */
  consoleDir?: string | null;
  log?: Logger;
  clock?: Clock;
  ids?: Ids;
  /** From 0 to 1, for the pauses between attempts. */
  random?: () => number;
  /** How long a node's lease lasts. Default 15,000 ms. */
  leaseMs?: number;
  /** How attempts to deliver are repeated. */
  retry?: Partial<RetrySettings>;
  /** Where a test ends the process. */
  crash?: CrashPlan;
  /** Told when the gateway cannot go on (its store or its lease is lost); a supervisor should restart the process. */
  onFatal?: (error: WaybillError) => void;
}
