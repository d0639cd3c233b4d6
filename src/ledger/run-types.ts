/**
 * The words that runs and agents share. The agents folder may not be imported here (it knows nothing of the ledger), so
 * the states stand here too; a test in `runs` holds the two against each other.
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

export type AbortCause = "cancel" | "shutdown" | "lease_lost" | "deadline" | "parent" | "limit";

export type RecoveryPolicy = "notify" | "retry" | "resume";

export type MessagePart =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; url: string; filename?: string }
  | { type: "data"; name: string; value: unknown; id?: string }
  | { type: "citation"; url: string; title?: string };

export interface Sender {
  id: string;
  name: string | null;
  principal: string | null;
}

export interface RunLimits {
  tokens?: number;
  steps?: number;
  wallMs?: number;
}
