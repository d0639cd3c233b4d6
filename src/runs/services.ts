import type { AgentRegistry } from "../agents/registry.ts";
import type { Database } from "../db/database.ts";
import type { CrossPostRule } from "../deliveries/choose-destination.ts";
import type { Place } from "../deliveries/post-message.ts";
import type { Sender } from "../deliveries/sender.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ReachCrashPoint } from "../kernel/crash-points.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Logger } from "../kernel/logger.ts";
import type { RunLimits, RunState } from "../ledger/run.ts";
import type { StreamStore } from "../streams/stream.ts";
import type { DailyCaps } from "../turns/daily-caps.ts";
import type { Locale } from "../texts/render.ts";
import type { EchoSigner } from "./echo.ts";
import type { GrantTokens } from "./grant-tokens.ts";
import type { LiveRun } from "./live-run.ts";

/** What running agents needs; the gateway makes it once. */
export interface RunServices {
  tenant: string;
  /** The boot id of this node. */
  owner: string;
  db: Database;
  ids: Ids;
  clock: Clock;
  log: Logger;
  reach: ReachCrashPoint;
  locale: Locale;
  agents: AgentRegistry;
  streams: StreamStore;
  senders: ReadonlyMap<string, Sender>;
  /** True, or why this place may not be posted to. */
  allows(place: Place): true | string;
  crossPost: readonly CrossPostRule[];
  memory: "conversation" | "shared";
  /** Items of memory that a run is given. */
  memoryWindow: number;
  /** Limits of each run; an agent's own win. */
  runLimits: RunLimits;
  /** Characters of one answer at most. */
  answerLimit: number;
  /** Milliseconds that an aborted agent has to end by itself. */
  abortGraceMs: number;
  followUp: "queue" | "steer" | "interrupt";
  /** Caps of a day; an empty object where there are none. */
  caps: DailyCaps;
  /** Signs the address of a turn, for agents that hand it back. */
  echoes: EchoSigner;
  /** How long after the end of a run calls of its tools may still act for it, in milliseconds. */
  toolGraceMs: number;
  /** A run that this process executes now. */
  live(run: string): LiveRun | null;
  /** The tokens of this process for tools, by holder. */
  grants: GrantTokens;
  /** Where this gateway serves; null if it does not say. */
  url: string | null;
  /** Told after commits; nothing depends on them being heard. */
  hear: {
    posted(address: string): void;
    runChanged(run: string, address: string, state: RunState): void;
    opsAdded(): void;
    runsReady(): void;
    /** A reminder was made. */
    schedulesChanged?(): void;
  };
}
