import type { AbortCause, MessagePart, RecoveryPolicy, RunLimits, RunState, Sender } from "./run-types.ts";

export type { AbortCause, MessagePart, RecoveryPolicy, RunLimits, RunState, Sender };

/**
 * A run is one execution of one agent for one turn.
 *
 *              ack committed      claimed (fence + 1)
 *   [staged] ---------------> [queued] -----------> [running] <---> [waiting]
 *      |                         |                      |               |
 *      | parent died             | cancelled            +-------+-------+
 *      v                         v                              v
 *   cancelled                cancelled      completed | failed | cancelled | interrupted
 *
 * Terms: *foreground* runs are ordered by their lane, one live at a time; background runs (jobs) are not.
 * *ready*: a queued run that may be claimed, because it is at the head of its lane and the lane is free.
 * *owner*: the boot id of the node that runs it. *fence*: counts claims and reaps; every later write of a run carries
 * it, so a writer that was overtaken changes nothing.
 */
export const terminalStates = ["completed", "failed", "cancelled", "interrupted"] as const;

export function isTerminal(state: RunState): boolean {
  return (terminalStates as readonly string[]).includes(state);
}

/** What a run was asked, stored with it so that a claim needs nothing else. */
export interface RunInput {
  v: 1;
  text: string;
  parts: MessagePart[];
  sender: Sender;
  /** The message that asked, as stored; a job's is its parent's. */
  message: string | null;
  /** How wide the conversation is: `dm | group | channel | unknown`. */
  kind: string;
  /** Asked by the clock: the schedule, and the rule by which it found its destination. */
  schedule?: { id: string; rule: string };
  /** Asked before, by a run that had begun: the memory of its place has the question. */
  again?: true;
}

/** A run as a claim hands it over. */
export interface ClaimedRun {
  id: string;
  agent: string;
  turn: string;
  foreground: boolean;
  lane: string;
  fence: number;
  attempt: number;
  stream: string;
  streamRoot: string;
  trace: string;
  origin: string;
  replyTo: string;
  scope: string;
  input: RunInput;
  limits: RunLimits;
  checkpoint: string | null;
  deadlineAt: number | null;
  parent: string | null;
}

/** Who may write: every write of a run after its claim carries this. */
export interface Fence {
  tenant: string;
  run: string;
  owner: string;
  fence: number;
}
