import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";

/**
 * What an agent is and what it is given. This folder defines the context as an interface and `runs` implements it,
 * so an agent never knows a channel, a store or a queue.
 *
 * Terms: an *agent* is what answers; a *run* is one execution of it; a *turn* is the incoming message that the run
 * handles; an *address* is a text that names one place where people read.
 */

/** Part of a message, as in the AI SDK's `UIMessage`; versioned where it is stored. */
export type MessagePart =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; url: string; filename?: string }
  | { type: "data"; name: string; value: JsonValue; id?: string }
  | { type: "citation"; url: string; title?: string };

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue | undefined };

/** Who speaks: an identity on a platform. `id` is the platform's id, `principal` the account it is linked to. */
export interface Sender {
  id: string;
  name: string | null;
  principal: string | null;
}

/** One item of the agent's short memory, oldest first. `origin` is the id of the message it came from. */
export interface HistoryItem {
  role: "user" | "assistant";
  text: string;
  parts: MessagePart[];
  sender: string | null;
  run: string | null;
  origin: string;
  /** ISO 8601, UTC. */
  at: string;
}

/** What the ledger knows of one run of this place; nothing else is known about jobs here. Times are ISO 8601. */
export interface RunFact {
  run: string;
  agent: string;
  state: RunState;
  reason: string | null;
  background: boolean;
  progress: string | null;
  asked: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/**
 * The states of a run.
 *
 *   staged -> queued -> running <-> waiting
 *     |         |          |           |
 *     v         v          +-----+-----+-> completed | failed | cancelled | interrupted
 *   cancelled  cancelled
 */
export type RunState =
  | "staged"
  | "queued"
  | "running"
  | "waiting"
  | "completed"
  | "failed"
  | "cancelled"
  | "interrupted";

/** Why a run was aborted; stored before the signal is given. */
export type AbortCause = "cancel" | "shutdown" | "lease_lost" | "deadline" | "parent" | "limit";

/** What was used, summed over the model calls of a run. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  steps: number;
}

/** Limits of one run. What is left out is not limited. */
export interface RunLimits {
  /** Input and output tokens together. */
  tokens?: number;
  /** Model calls. */
  steps?: number;
  /** Milliseconds from the start of the run. */
  wallMs?: number;
}

/** The output stream of a run. Deltas reach readers at once; the committed answer is the whole text at the end. */
export interface RunStream {
  /** A piece of the answer's text. */
  text(delta: string): void;
  /** A piece of data beside the text; the same `name` and `id` again replaces it for readers. */
  data(name: string, value: JsonValue, options?: { id?: string }): void;
  /** An AI SDK UI message stream (`result.toUIMessageStream()`); its own start and finish are left out. */
  merge(stream: AsyncIterable<UIChunk>): Promise<void>;
}

/** A chunk of the AI SDK's UI message stream, as far as the gateway needs to know it. */
export interface UIChunk {
  type: string;
  [field: string]: unknown;
}

/** What a run is given. Everything in it belongs to one turn; nothing of it is global. */
export interface RunContext {
  /** The text of the message, without the bot's own mention. */
  readonly text: string;
  readonly message: { id: string; parts: readonly MessagePart[] };
  readonly sender: Sender;
  /** The short memory of this conversation, oldest first, without the present message. */
  readonly history: readonly HistoryItem[];
  /** The ledger's facts about this place, live runs first. */
  readonly facts: readonly RunFact[];
  /** Where the answer is due. */
  readonly address: string;
  /** The same address, signed, for an agent that hands it back (`reply_to=` in a prompt). */
  readonly echo: string;
  readonly run: { id: string; turn: string; trace: string; stream: string; attempt: number; agent: string };
  /** Aborts when the run is cancelled, out of time, shut down or lost. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly limits: RunLimits;
  readonly stream: RunStream;

  /** Posts another message in the turn's own place, before the final answer. Resolves when it is committed. */
  say(text: string): Promise<{ delivery: string }>;
  /** Posts to an explicit target (an address text). Rules apply; refused: an error with a code that says what to do. */
  send(to: string | undefined, text: string): Promise<{ delivery: string }>;
  /** Progress of a long run: stored, and shown as one status line that goes away at the end. */
  progress(text: string, percent?: number): Promise<void>;
  /** Starts a job. It is recorded now, begins with this run's next committed message here, and answers here. */
  start(agent: string, input: string | AgentInput): Promise<{ run: string }>;
  /** The ledger's facts about one run of this place. */
  status(query: { run: string }): Promise<RunFact>;
  /** Stores a value that a later attempt of this run reads as `resumedFrom`. */
  checkpoint(value: JsonValue): Promise<void>;
  readonly resumedFrom: JsonValue | null;
  /** Finish without posting anything. */
  silent(): void;
  /** Adds to the run's usage; throws `token_limit` or `step_limit` when a limit is passed. */
  use(usage: Partial<Usage>): void;
  /**
   * Messages that the same person sent here meanwhile, where `followUp` is `steer`; each is given once, and from then
   * on this run answers it too. What is not taken is answered by a run of its own, afterwards.
   */
  takeSteering(): Promise<readonly { id: string; text: string; parts: readonly MessagePart[] }[]>;
  /**
   * Has something said later: here, or at a place that `send` might reach. It is a schedule that operators see, and it
   * comes once, also after a restart.
   * @throws WaybillError `invalid_request`, `too_many_reminders`, and as `send` does for `to`
   */
  remind(reminder: Reminder): Promise<{ schedule: string }>;
  /**
   * A bearer token for the gateway's tools (`/mcp` and `POST /v1/sends`), and adds this run to what it may act for.
   * `holder` names who will hold it, and is a holder's own name for good: one pooled process (`process:assistant:<boot>:3`),
   * one session of an agent. The same holder gets the same token as long as this gateway runs, so it may stand in the
   * environment of a process. `agentTurn` is the agent's own id of this turn, by which its tool calls may say which turn
   * they belong to; called again with it, it is recorded later. `url` is where the gateway serves (`http://127.0.0.1:8787`),
   * null if it does not say.
   * @throws WaybillError `run_lost`, `invalid_request`
   */
  grant(holder: string, agentTurn?: string): Promise<{ token: string; url: string | null }>;
}

/** Something to be said later. Give `at` or `in`. */
export interface Reminder {
  text: string;
  /** When: a time, or its text in ISO 8601 with a zone (`2026-01-31T09:30:00Z`). */
  at?: Date | string;
  /** Milliseconds from now. */
  in?: number;
  /** Left out: here. */
  to?: string;
  /** The agent that is asked `text` then; left out: `text` itself is posted. */
  agent?: string;
}

export interface AgentInput {
  text: string;
  parts?: MessagePart[];
  data?: JsonValue;
}

/** What to do with a run that a dead process left: tell people, run it again, or run it again from its checkpoint. */
export type RecoveryPolicy = "notify" | "retry" | "resume";

/** An agent as the gateway runs it. `agent.fn`, `agent.model`, `agent.ai` and `agent.process` make these. */
export interface Agent {
  readonly kind: string;
  /** Changes when the agent's own settings change; stored with each run. */
  readonly version: string;
  /** True: a message starts a job that is acknowledged first and answered when it is done. */
  readonly background: boolean;
  readonly recovery: RecoveryPolicy;
  readonly limits: RunLimits;
  /** True if it takes follow-ups while it runs. */
  readonly steerable: boolean;
  /** The language models it calls, for `doctor` and logs. */
  readonly models: readonly string[];
  /** Resolves when the answer is complete; what it streamed is the answer. Throws when it failed. */
  run(ctx: RunContext): Promise<void>;
  /**
   * For an agent that keeps something between runs, such as processes: called once by each gateway that has it, before
   * its first run, so that two gateways with one agent object share nothing. The gateway calls `run` of what it gives.
   */
  open?(host: AgentHost): OpenAgent;
}

/** What a gateway gives to an agent that keeps something between runs. */
export interface AgentHost {
  /** The agent's name in that gateway. */
  readonly agent: string;
  /** The id of this life of that gateway. */
  readonly boot: string;
  readonly log: Logger;
  readonly clock: Clock;
}

/** An agent at work in one gateway. */
export interface OpenAgent {
  run(ctx: RunContext): Promise<void>;
  /** Ends what it keeps. Resolves when nothing of it is left; runs that still go on here fail. */
  stop(): Promise<void>;
  /** What an operator sees of it, now. */
  health(): AgentHealth;
}

/** The state of an agent that keeps processes; the last three count from the gateway's start. */
export interface AgentHealth {
  processes: number;
  turns: number;
  /** Turns that wait for a free process. */
  waiting: number;
  /** Processes that were started. */
  starts: number;
  /** Processes that ended badly or could not be started. */
  crashes: number;
  /** Lines that belonged to no turn of their process, or were of no known form. */
  dropped: number;
}
