import { all, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { appendEvent } from "./events.ts";
import type { RecoveryPolicy, RunInput, RunLimits } from "./run.ts";

export type TurnKind = "message" | "schedule" | "wake" | "call" | "approval";

export interface NewTurn {
  tenant: string;
  id: string;
  kind: TurnKind;
  /** The address, fixed from here on. */
  address: string;
  lane: string;
  laneSeq: number;
  message: string | null;
  sender: { id: string; name: string | null; principal: string | null } | null;
  causedBy: string | null;
}

export interface NewRun {
  tenant: string;
  id: string;
  agent: string;
  agentVersion: string;
  turn: string;
  foreground: boolean;
  lane: string;
  laneSeq: number;
  ready: boolean;
  state: "staged" | "queued";
  recovery: RecoveryPolicy;
  parent: string | null;
  root: string;
  stream: string;
  streamRoot: string;
  trace: string;
  causedBy: string | null;
  origin: string;
  replyTo: string;
  scope: string;
  input: RunInput;
  limits: RunLimits;
}

const insertTurn = statement<{
  tenant: string;
  id: string;
  kind: string;
  address: string;
  lane: string;
  laneSeq: number;
  message: string | null;
  senderId: string | null;
  senderName: string | null;
  principal: string | null;
  causedBy: string | null;
  at: number;
}>()((k, p) =>
  k.insertInto("turns").values({
    tenant_id: p.tenant,
    id: p.id,
    kind: p.kind,
    address: p.address,
    lane: p.lane,
    lane_seq: p.laneSeq,
    message_id: p.message,
    sender_id: p.senderId,
    sender_name: p.senderName,
    principal: p.principal,
    caused_by: p.causedBy,
    created_at: p.at,
  }),
);

type RunRow = Omit<NewRun, "foreground" | "ready" | "input" | "limits"> & {
  foreground: number;
  ready: number;
  input: string;
  limits: string;
  at: number;
};

const insertRun = statement<RunRow>()((k, p) =>
  k.insertInto("runs").values({
    tenant_id: p.tenant,
    id: p.id,
    agent: p.agent,
    agent_version: p.agentVersion,
    turn_id: p.turn,
    foreground: p.foreground,
    lane: p.lane,
    lane_seq: p.laneSeq,
    ready: p.ready,
    state: p.state,
    fence: 0,
    attempts: 0,
    recovery: p.recovery,
    parent_run: p.parent,
    root_run: p.root,
    stream_id: p.stream,
    stream_root: p.streamRoot,
    trace_id: p.trace,
    caused_by: p.causedBy,
    origin: p.origin,
    reply_to: p.replyTo,
    scope: p.scope,
    input_json: p.input,
    limits_json: p.limits,
    event_seq: 1,
    created_at: p.at,
  }),
);

/** Records a turn. Part of a larger command. */
export function* recordTurn(turn: NewTurn, now: number): Program<void> {
  yield* all(insertTurn, {
    tenant: turn.tenant,
    id: turn.id,
    kind: turn.kind,
    address: turn.address,
    lane: turn.lane,
    laneSeq: turn.laneSeq,
    message: turn.message,
    senderId: turn.sender?.id ?? null,
    senderName: turn.sender?.name ?? null,
    principal: turn.sender?.principal ?? null,
    causedBy: turn.causedBy,
    at: now,
  });
}

/** Records a run as staged or queued, with its first event. Part of a larger command. */
export function* recordRun(run: NewRun, now: number): Program<void> {
  yield* all(insertRun, {
    ...run,
    foreground: run.foreground ? 1 : 0,
    ready: run.ready ? 1 : 0,
    input: JSON.stringify(run.input),
    limits: JSON.stringify(run.limits),
    at: now,
  });
  yield* appendEvent(run.tenant, run.id, 1, run.state, { agent: run.agent, replyTo: run.replyTo }, now);
}
