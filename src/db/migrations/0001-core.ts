import type { Migration } from "../migrate.ts";

/**
 * The core model, laid whole: also the tables that later features fill. Every key and index begins with the tenant.
 * `{int}` is 64 bit, `{bytes}` a blob, `{identity}` a number that the store counts up, `{clustered}` keeps a table in
 * the order of its key where the store can (SQLite). Times are milliseconds since 1970, `_json` columns hold JSON text
 * with a version `v` where the shape may grow.
 */
export const core: Migration = {
  version: 1,
  name: "core",
  breaking: true,
  statements: [
    // who runs this, and until when it may write
    `create table nodes (
      tenant_id text not null, boot_id text not null, host text not null, pid {int} not null,
      started_at {int} not null, lease_until {int} not null, ended_at {int},
      primary key (tenant_id, boot_id)){clustered}`,
    `create table node_agents (
      tenant_id text not null, boot_id text not null, agent text not null, version text not null,
      primary key (tenant_id, agent, version, boot_id)){clustered}`,
    `create table node_channels (
      tenant_id text not null, boot_id text not null, channel text not null, account text not null,
      primary key (tenant_id, channel, account, boot_id)){clustered}`,
    // what one process at a time may have: the poller of a bot token
    `create table holds (
      tenant_id text not null, name text not null, boot_id text not null, at {int} not null,
      primary key (tenant_id, name)){clustered}`,

    // where people talk, and who they are
    `create table conversations (
      tenant_id text not null, address text not null, parent text, channel text not null, account text not null,
      kind text not null, title text, opened_by text, last_post_seq {int} not null,
      created_at {int} not null, last_at {int} not null,
      primary key (tenant_id, address)){clustered}`,
    `create index conversations_by_time on conversations (tenant_id, last_at)`,
    `create index conversations_by_parent on conversations (tenant_id, parent) where parent is not null`,
    `create table senders (
      tenant_id text not null, account text not null, platform_id text not null, name text, principal text,
      seen_at {int} not null, primary key (tenant_id, account, platform_id)){clustered}`,
    `create table denials (
      tenant_id text not null, address text not null, sender text not null, name text, reason text not null,
      times {int} not null, first_at {int} not null, last_at {int} not null,
      primary key (tenant_id, address, sender, reason)){clustered}`,
    `create index denials_by_time on denials (tenant_id, last_at)`,
    `create table slots (
      tenant_id text not null, account text not null, slot text not null, address text not null, at {int} not null,
      primary key (tenant_id, account, slot)){clustered}`,

    // what was asked
    `create table turns (
      tenant_id text not null, id text not null, kind text not null, address text not null,
      lane text not null, lane_seq {int} not null, message_id text, sender_id text, sender_name text, principal text,
      caused_by text, created_at {int} not null,
      primary key (tenant_id, id)){clustered}`,
    `create table lanes (
      tenant_id text not null, id text not null, last_seq {int} not null,
      primary key (tenant_id, id)){clustered}`,
    `create table idempotency (
      tenant_id text not null, scope text not null, key text not null, digest text not null, answer_json text not null,
      at {int} not null, primary key (tenant_id, scope, key)){clustered}`,

    // what is running
    `create table runs (
      tenant_id text not null, id text not null, agent text not null, agent_version text not null,
      turn_id text not null, foreground {int} not null, lane text not null, lane_seq {int} not null, ready {int} not null,
      state text not null, reason text, abort_cause text, owner text, fence {int} not null, attempts {int} not null,
      recovery text not null, parent_run text, root_run text not null, instance text,
      stream_id text not null, stream_root text not null, trace_id text not null, caused_by text,
      origin text not null, reply_to text not null, posted_in text, scope text not null,
      input_json text not null, limits_json text, usage_json text, checkpoint_json text,
      progress text, progress_percent {int}, progress_at {int},
      event_seq {int} not null, created_at {int} not null, started_at {int}, finished_at {int}, deadline_at {int},
      primary key (tenant_id, id)){clustered}`,
    `create unique index runs_one_live_a_lane on runs (tenant_id, lane)
      where foreground = 1 and state in ('running', 'waiting')`,
    // State and ready lead although the index holds one value of each: only so does SQLite rate it above runs_by_time.
    `create index runs_claimable on runs (tenant_id, state, ready, created_at, id)
      where state = 'queued' and ready = 1`,
    // What has not ended is said by finished_at, not by state: so a claim, which changes state, leaves these as they are.
    `create index runs_in_lane on runs (tenant_id, lane, lane_seq) where foreground = 1 and finished_at is null`,
    `create index runs_by_origin on runs (tenant_id, origin, created_at)`,
    `create index runs_live_by_origin on runs (tenant_id, origin, created_at) where finished_at is null`,
    // Of two indexes that would do SQLite takes the one made last: those of live runs come after those of all.
    `create index runs_by_reply on runs (tenant_id, reply_to, created_at) where reply_to <> origin`,
    `create index runs_live_by_reply on runs (tenant_id, reply_to, created_at)
      where finished_at is null and reply_to <> origin`,
    `create index runs_asked_to_end on runs (tenant_id, owner)
      where abort_cause is not null and finished_at is null`,
    `create index runs_by_posted on runs (tenant_id, posted_in, created_at)
      where posted_in is not null and posted_in <> reply_to`,
    `create index runs_by_turn on runs (tenant_id, turn_id)`,
    `create index runs_by_parent on runs (tenant_id, parent_run) where parent_run is not null`,
    `create index runs_staged on runs (tenant_id, parent_run) where state = 'staged'`,
    // The first run of a trace has the trace's own number and its stream's, so only later ones need to be found by them.
    `create index runs_by_trace on runs (tenant_id, trace_id) where caused_by is not null`,
    // Nested runs, said by columns that a search for a stream does not fix: SQLite puts a value that it knows into the
    // condition of the search, which then no longer reads like that of the index.
    `create index runs_by_stream on runs (tenant_id, stream_id) where root_run <> id`,
    `create index runs_by_time on runs (tenant_id, created_at)`,
    `create table run_events (
      tenant_id text not null, run_id text not null, event_seq {int} not null, kind text not null, data_json text,
      at {int} not null, primary key (tenant_id, run_id, event_seq)){clustered}`,
    `create index run_events_refused on run_events (tenant_id, at) where kind = 'send_refused'`,
    `create table agent_instances (
      tenant_id text not null, address text not null, path text not null, agent text not null, scope text not null,
      slot {int}, state text not null, agent_state text, asked_by text, updated_at {int} not null,
      primary key (tenant_id, address, path)){clustered}`,
    `create table daily_use (
      tenant_id text not null, day text not null, subject text not null, runs {int} not null, tokens {int} not null,
      primary key (tenant_id, day, subject)){clustered}`,
    `create table grants (
      tenant_id text not null, id text not null, token_hash text not null, made_for text not null, place text,
      expires_at {int} not null, created_at {int} not null, primary key (tenant_id, id)){clustered}`,
    `create unique index grants_by_token on grants (tenant_id, token_hash)`,
    `create table grant_runs (
      tenant_id text not null, grant_id text not null, run_id text not null, agent_turn text, added_at {int} not null,
      recent {int} not null, primary key (tenant_id, grant_id, run_id)){clustered}`,
    `create index grant_runs_recent on grant_runs (tenant_id, grant_id, recent) where recent = 1`,
    `create table approvals (
      tenant_id text not null, id text not null, run_id text not null, address text not null, title text not null,
      detail text, state text not null, answered_by text, expires_at {int} not null, created_at {int} not null,
      answered_at {int}, primary key (tenant_id, id)){clustered}`,

    // what was said, and what an agent remembers of it
    `create table messages (
      tenant_id text not null, id text not null, address text not null, post_seq {int} not null, role text not null,
      text text not null, parts_json text not null, notice_key text, notice_json text,
      turn_id text, run_id text, delivery_id text, platform_id text, sender_id text, sender_name text,
      at {int} not null, primary key (tenant_id, id)){clustered}`,
    `create unique index messages_in_place on messages (tenant_id, address, post_seq)`,
    `create index messages_by_run on messages (tenant_id, run_id) where run_id is not null`,
    `create table memory_items (
      seq {identity}, tenant_id text not null, scope text not null, role text not null, text text not null,
      parts_json text, sender text, origin text not null, address text not null, run_id text, at {int} not null)`,
    `create index memory_by_scope on memory_items (tenant_id, scope, seq)`,
    `create table memory_scopes (
      tenant_id text not null, scope text not null, since_seq {int} not null, summary text, seeded_from text,
      at {int} not null, primary key (tenant_id, scope)){clustered}`,
    `create table blobs (
      tenant_id text not null, hash text not null, media_type text not null, bytes {bytes} not null, at {int} not null,
      primary key (tenant_id, hash))`,

    // what goes out
    `create table deliveries (
      tenant_id text not null, id text not null, kind text not null, run_id text, turn_id text, address text not null,
      state text not null, rule text not null, rejected_json text not null, reason text, message_id text,
      attempts {int} not null, created_at {int} not null, settled_at {int}, next_at {int},
      schedule_id text, held_json text,
      primary key (tenant_id, id)){clustered}`,
    `create index deliveries_by_run on deliveries (tenant_id, run_id) where run_id is not null`,
    `create index deliveries_by_turn on deliveries (tenant_id, turn_id) where run_id is null`,
    `create index deliveries_by_time on deliveries (tenant_id, created_at)`,
    `create index deliveries_unsettled on deliveries (tenant_id, state, created_at) where state <> 'delivered'`,
    `create table ops (
      tenant_id text not null, id text not null, delivery_id text not null, address text not null, channel text not null,
      op_seq {int} not null, kind text not null, part {int} not null, text text not null, parts_json text,
      state text not null, attempts {int} not null, fence {int} not null, owner text, ambiguous {int} not null,
      next_at {int} not null, error text, created_at {int} not null,
      primary key (tenant_id, id)){clustered}`,
    `create unique index ops_in_order on ops (tenant_id, address, op_seq)`,
    `create index ops_waiting on ops (tenant_id, address, op_seq) where state in ('pending', 'sending')`,
    `create index ops_due on ops (tenant_id, state, next_at, id) where state = 'pending'`,
    `create index ops_sending on ops (tenant_id, owner) where state = 'sending'`,
    `create index ops_by_delivery on ops (tenant_id, delivery_id)`,
    `create table op_counters (
      tenant_id text not null, address text not null, last_seq {int} not null,
      primary key (tenant_id, address)){clustered}`,
    `create table receipts (
      tenant_id text not null, delivery_id text not null, part {int} not null, platform_id text not null,
      address text not null, permalink text, at {int} not null,
      primary key (tenant_id, delivery_id, part)){clustered}`,
    `create index receipts_by_platform on receipts (tenant_id, platform_id)`,
    `create index receipts_by_permalink on receipts (tenant_id, permalink) where permalink is not null`,

    // what agents tell each other, sealed; and what people may read of it, on its way to the audit store
    `create table agent_messages (
      tenant_id text not null, id text not null, trace_id text not null, kind text not null, sender text not null,
      recipient text not null, sender_run text, recipient_run text, mode text not null, sealed text,
      state text not null, created_at {int} not null, read_at {int}, primary key (tenant_id, id)){clustered}`,
    `create index agent_messages_inbox on agent_messages (tenant_id, recipient, created_at)`,
    `create table audit_outbox (
      seq {identity}, tenant_id text not null, message_id text not null, kid text not null, record text not null,
      at {int} not null)`,

    // what was streamed, counted
    `create table stream_counts (
      tenant_id text not null, stream_id text not null, root_id text not null, run_id text not null, writer text not null,
      events {int} not null, bytes {int} not null, first_at {int}, last_at {int}, closed text, readers_json text,
      primary key (tenant_id, stream_id)){clustered}`,

    // what comes by the clock
    `create table schedules (
      tenant_id text not null, id text not null, source text not null, digest text not null, target text, account text,
      agent text, cron text, time_zone text not null, text text not null, asked_by text, trace_id text,
      state text not null, next_at {int}, last_at {int}, last_run text, last_delivery text, created_at {int} not null,
      primary key (tenant_id, id)){clustered}`,
    `create index schedules_due on schedules (tenant_id, next_at) where state = 'active'`,
  ],
};
