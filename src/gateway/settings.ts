import type { Agent, RunLimits } from "../agents/agent.ts";
import type { ChannelFactory } from "../channels/channel.ts";
import type { CrossPostRule } from "../deliveries/choose-destination.ts";
import type { Locale } from "../texts/render.ts";
import type { FollowUp } from "../turns/accept-message.ts";
import type { Route } from "../turns/routes.ts";

/** What `waybill.config.ts` exports. Everything but `agents` may be left out. */
export interface WaybillConfig {
  /** By name; the first one answers where no route says otherwise. */
  agents: Record<string, Agent>;
  /** The web channel is always there; these come beside it. */
  channels?: readonly ChannelFactory[];
  /** First match wins. */
  routes?: readonly Route[];
  /** What may be posted elsewhere than where it was asked. None: nothing. */
  crossPost?: readonly CrossPostRule[];
  limits?: LimitSettings;
  /** `conversation` (default): each place remembers its own. `shared`: one memory for all; lanes stay apart. */
  memory?: "conversation" | "shared";
  /** Items of memory that an agent is given. Default 40. */
  memoryWindow?: number;
  /** What a message does that comes while a run is going on in its place. Default `queue`. */
  followUp?: FollowUp;
  /**
   * Keeps two slots for each account, `last-active` and `latest-seen`, for sends that belong to no turn: schedules and
   * an operator's own. Nothing inside a turn reads them. Default off.
   */
  lastActive?: boolean;
  /** Heartbeats: what comes by the clock. Reminders are made while it runs. */
  schedules?: readonly ScheduleSettings[];
  tools?: {
    /** Milliseconds after the end of a run in which calls of its tools still act for it. Default 60,000. */
    graceMs?: number;
  };
  shutdown?: {
    /** Milliseconds that runs have to end by themselves after SIGTERM. Default 10,000. */
    graceMs?: number;
  };
  /** The language of texts in chats. Default `en`. */
  locale?: Locale;
}

/** Something that comes by the clock. */
export interface ScheduleSettings {
  /** Keeps its times over restarts: another id is another schedule. */
  id: string;
  /** Five parts (`0 9 * * 1-5`), six with seconds before them, or `@hourly` and its like. */
  cron: string;
  /** Whose clocks `cron` means, as an IANA name. Default `UTC`. */
  timeZone?: string;
  /**
   * An address, or a slot with its `account`: `last-active` (where there is none, latest seen), `latest-seen`. What is
   * not a whole place is held until an operator completes it.
   */
  to?: string;
  /** Whose slot: `slack:T1`. */
  account?: string;
  /** The agent that is asked `text`, as a turn of its own at `to`. Left out: `text` itself is posted. */
  agent?: string;
  text: string;
}

export interface LimitSettings {
  /** Of each run; an agent's own limits win. */
  run?: RunLimits;
  /** Of each day (UTC). */
  daily?: {
    perSender?: { runs?: number; tokens?: number };
    perAgent?: { runs?: number; tokens?: number };
  };
  /** Runs at once on a node. Default 1,000. */
  concurrency?: number;
  /** HTTP requests a minute of one caller. Default: none on loopback, 600 elsewhere. */
  requestsPerMinute?: number;
  /** Bytes of a request body. Default 1 MiB. */
  bodyBytes?: number;
  /** Characters of one answer. Default 1,000,000. */
  answerCharacters?: number;
}

/** Gives the settings their type; returns them as they are. */
export function defineConfig(config: WaybillConfig): WaybillConfig {
  return config;
}
