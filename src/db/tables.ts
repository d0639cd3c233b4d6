import type { HoldsTable, NodeAgentsTable, NodeChannelsTable, NodesTable } from "./node-tables.ts";
import type { Generated } from "kysely";

/**
 * The tables as TypeScript sees them, column by column as in the migrations. `_json` columns are JSON text, times are
 * milliseconds since 1970, yes and no are 1 and 0 (SQLite has no boolean).
 */
export interface Tables {
  nodes: NodesTable;
  node_agents: NodeAgentsTable;
  node_channels: NodeChannelsTable;
  holds: HoldsTable;
  conversations: ConversationsTable;
  senders: SendersTable;
  denials: DenialsTable;
  slots: SlotsTable;
  turns: TurnsTable;
  lanes: LanesTable;
  idempotency: IdempotencyTable;
  runs: RunsTable;
  run_events: RunEventsTable;
  agent_instances: AgentInstancesTable;
  daily_use: DailyUseTable;
  grants: GrantsTable;
  grant_runs: GrantRunsTable;
  approvals: ApprovalsTable;
  messages: MessagesTable;
  memory_items: MemoryItemsTable;
  memory_scopes: MemoryScopesTable;
  blobs: BlobsTable;
  deliveries: DeliveriesTable;
  ops: OpsTable;
  op_counters: OpCountersTable;
  receipts: ReceiptsTable;
  agent_messages: AgentMessagesTable;
  audit_outbox: AuditOutboxTable;
  stream_counts: StreamCountsTable;
  schedules: SchedulesTable;
}

export interface ConversationsTable {
  tenant_id: string;
  address: string;
  parent: string | null;
  channel: string;
  account: string;
  kind: string;
  title: string | null;
  opened_by: string | null;
  last_post_seq: number;
  created_at: number;
  last_at: number;
}

export interface SendersTable {
  tenant_id: string;
  account: string;
  platform_id: string;
  name: string | null;
  principal: string | null;
  seen_at: number;
}

export interface DenialsTable {
  tenant_id: string;
  address: string;
  sender: string;
  name: string | null;
  reason: string;
  times: number;
  first_at: number;
  last_at: number;
}

export interface SlotsTable {
  tenant_id: string;
  account: string;
  slot: string;
  address: string;
  at: number;
}

export interface TurnsTable {
  tenant_id: string;
  id: string;
  kind: string;
  address: string;
  lane: string;
  lane_seq: number;
  message_id: string | null;
  sender_id: string | null;
  sender_name: string | null;
  principal: string | null;
  caused_by: string | null;
  created_at: number;
}

export interface LanesTable {
  tenant_id: string;
  id: string;
  last_seq: number;
}

export interface IdempotencyTable {
  tenant_id: string;
  scope: string;
  key: string;
  digest: string;
  answer_json: string;
  at: number;
}

export interface RunsTable {
  tenant_id: string;
  id: string;
  agent: string;
  agent_version: string;
  turn_id: string;
  foreground: number;
  lane: string;
  lane_seq: number;
  ready: number;
  state: string;
  reason: string | null;
  abort_cause: string | null;
  owner: string | null;
  fence: number;
  attempts: number;
  recovery: string;
  parent_run: string | null;
  root_run: string;
  instance: string | null;
  stream_id: string;
  stream_root: string;
  trace_id: string;
  caused_by: string | null;
  origin: string;
  reply_to: string;
  posted_in: string | null;
  scope: string;
  input_json: string;
  limits_json: string | null;
  usage_json: string | null;
  checkpoint_json: string | null;
  progress: string | null;
  progress_percent: number | null;
  progress_at: number | null;
  event_seq: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  deadline_at: number | null;
}

export interface RunEventsTable {
  tenant_id: string;
  run_id: string;
  event_seq: number;
  kind: string;
  data_json: string | null;
  at: number;
}

export interface AgentInstancesTable {
  tenant_id: string;
  address: string;
  path: string;
  agent: string;
  scope: string;
  slot: number | null;
  state: string;
  agent_state: string | null;
  asked_by: string | null;
  updated_at: number;
}

export interface DailyUseTable {
  tenant_id: string;
  day: string;
  subject: string;
  runs: number;
  tokens: number;
}

export interface GrantsTable {
  tenant_id: string;
  id: string;
  token_hash: string;
  made_for: string;
  /** Where all of its runs are due; null: at several addresses. */
  place: string | null;
  expires_at: number;
  created_at: number;
}

export interface GrantRunsTable {
  tenant_id: string;
  grant_id: string;
  run_id: string;
  agent_turn: string | null;
  added_at: number;
  /** 0 once it was seen that the run ended before the grace time. */
  recent: number;
}

export interface ApprovalsTable {
  tenant_id: string;
  id: string;
  run_id: string;
  address: string;
  title: string;
  detail: string | null;
  state: string;
  answered_by: string | null;
  expires_at: number;
  created_at: number;
  answered_at: number | null;
}

export interface MessagesTable {
  tenant_id: string;
  id: string;
  address: string;
  post_seq: number;
  role: string;
  text: string;
  parts_json: string;
  notice_key: string | null;
  notice_json: string | null;
  turn_id: string | null;
  run_id: string | null;
  delivery_id: string | null;
  platform_id: string | null;
  sender_id: string | null;
  sender_name: string | null;
  at: number;
}

export interface MemoryItemsTable {
  seq: Generated<number>;
  tenant_id: string;
  scope: string;
  role: string;
  text: string;
  parts_json: string | null;
  sender: string | null;
  origin: string;
  address: string;
  run_id: string | null;
  at: number;
}

export interface MemoryScopesTable {
  tenant_id: string;
  scope: string;
  since_seq: number;
  summary: string | null;
  seeded_from: string | null;
  at: number;
}

export interface BlobsTable {
  tenant_id: string;
  hash: string;
  media_type: string;
  bytes: Uint8Array;
  at: number;
}

export interface DeliveriesTable {
  tenant_id: string;
  id: string;
  kind: string;
  run_id: string | null;
  turn_id: string | null;
  address: string;
  state: string;
  rule: string;
  rejected_json: string;
  reason: string | null;
  message_id: string | null;
  attempts: number;
  created_at: number;
  settled_at: number | null;
  next_at: number | null;
  schedule_id: string | null;
  /** What was to be sent when it is held for want of an address: JSON `{ v: 1, ... }` of schedules/held.ts. */
  held_json: string | null;
}

export interface OpsTable {
  tenant_id: string;
  id: string;
  delivery_id: string;
  address: string;
  channel: string;
  op_seq: number;
  kind: string;
  part: number;
  text: string;
  parts_json: string | null;
  state: string;
  attempts: number;
  fence: number;
  owner: string | null;
  ambiguous: number;
  next_at: number;
  error: string | null;
  created_at: number;
}

export interface OpCountersTable {
  tenant_id: string;
  address: string;
  last_seq: number;
}

export interface ReceiptsTable {
  tenant_id: string;
  delivery_id: string;
  part: number;
  platform_id: string;
  address: string;
  permalink: string | null;
  at: number;
}

export interface AgentMessagesTable {
  tenant_id: string;
  id: string;
  trace_id: string;
  kind: string;
  sender: string;
  recipient: string;
  sender_run: string | null;
  recipient_run: string | null;
  mode: string;
  sealed: string | null;
  state: string;
  created_at: number;
  read_at: number | null;
}

export interface AuditOutboxTable {
  seq: Generated<number>;
  tenant_id: string;
  message_id: string;
  kid: string;
  record: string;
  at: number;
}

export interface StreamCountsTable {
  tenant_id: string;
  stream_id: string;
  root_id: string;
  run_id: string;
  writer: string;
  events: number;
  bytes: number;
  first_at: number | null;
  last_at: number | null;
  closed: string | null;
  readers_json: string | null;
}

export interface SchedulesTable {
  tenant_id: string;
  id: string;
  source: string;
  /** Of what the settings say, so that a change of them is seen. */
  digest: string;
  /** An address, part of one, or the name of a slot. */
  target: string | null;
  account: string | null;
  agent: string | null;
  cron: string | null;
  time_zone: string;
  text: string;
  asked_by: string | null;
  trace_id: string | null;
  state: string;
  next_at: number | null;
  last_at: number | null;
  last_run: string | null;
  last_delivery: string | null;
  created_at: number;
}
