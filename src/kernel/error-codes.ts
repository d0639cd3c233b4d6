/**
 * Every error code with its HTTP status and the exit code of the command line tool. docs/errors.md explains each
 * one and a test holds the two against each other. Exit codes: 1 failed, 2 wrong input, 3 not found, 4 refused,
 * 5 cannot start here, 6 no server.
 */
export const errorCodes = {
  // what was sent
  invalid_json: { status: 400, exit: 2 },
  invalid_request: { status: 400, exit: 2 },
  invalid_address: { status: 400, exit: 2 },
  invalid_id: { status: 400, exit: 2 },
  invalid_offset: { status: 400, exit: 2 },
  body_too_large: { status: 413, exit: 2 },
  unsupported_media_type: { status: 415, exit: 2 },
  idempotency_conflict: { status: 409, exit: 2 },
  rate_limited: { status: 429, exit: 4 },
  // what was asked for does not exist
  not_found: { status: 404, exit: 3 },
  unknown_agent: { status: 404, exit: 3 },
  unknown_run: { status: 404, exit: 3 },
  unknown_delivery: { status: 404, exit: 3 },
  unknown_stream: { status: 404, exit: 3 },
  unknown_schedule: { status: 404, exit: 3 },
  method_not_allowed: { status: 405, exit: 2 },
  // who asked
  unauthorized: { status: 401, exit: 4 },
  forbidden: { status: 403, exit: 4 },
  foreign_host: { status: 403, exit: 4 },
  foreign_origin: { status: 403, exit: 4 },
  invalid_signature: { status: 401, exit: 4 },
  sender_not_allowed: { status: 403, exit: 4 },
  invalid_grant: { status: 401, exit: 4 },
  grant_expired: { status: 401, exit: 4 },
  // which turn a tool's call belongs to
  invalid_echo: { status: 400, exit: 2 },
  forged_echo: { status: 403, exit: 4 },
  turn_not_granted: { status: 403, exit: 4 },
  turn_mismatch: { status: 403, exit: 4 },
  turn_required: { status: 409, exit: 4 },
  turn_ended: { status: 410, exit: 4 },
  no_live_turn: { status: 409, exit: 4 },
  // where something may go
  destination_not_allowed: { status: 403, exit: 4 },
  cross_post_not_allowed: { status: 403, exit: 4 },
  no_destination: { status: 409, exit: 4 },
  destination_gone: { status: 410, exit: 4 },
  // runs
  run_lost: { status: 409, exit: 1 },
  run_finished: { status: 409, exit: 1 },
  run_not_retryable: { status: 409, exit: 1 },
  delivery_not_retryable: { status: 409, exit: 1 },
  agent_failed: { status: 500, exit: 1 },
  agent_not_started: { status: 500, exit: 1 },
  agent_crashed: { status: 500, exit: 1 },
  agent_bad_output: { status: 500, exit: 1 },
  agent_output_too_large: { status: 500, exit: 1 },
  token_limit: { status: 429, exit: 1 },
  step_limit: { status: 429, exit: 1 },
  deadline_exceeded: { status: 504, exit: 1 },
  daily_cap: { status: 429, exit: 4 },
  too_many_reminders: { status: 429, exit: 1 },
  provider_unauthorized: { status: 502, exit: 1 },
  provider_rate_limited: { status: 502, exit: 1 },
  provider_failed: { status: 502, exit: 1 },
  provider_bad_answer: { status: 502, exit: 1 },
  // chat platforms
  platform_unavailable: { status: 503, exit: 1 },
  // streams
  stream_closed: { status: 409, exit: 1 },
  stream_fenced: { status: 409, exit: 1 },
  // starting and storing
  config_not_found: { status: 500, exit: 5 },
  config_syntax: { status: 500, exit: 5 },
  config_invalid: { status: 500, exit: 5 },
  data_folder_unusable: { status: 500, exit: 5 },
  data_in_use: { status: 500, exit: 5 },
  port_in_use: { status: 500, exit: 5 },
  token_required: { status: 500, exit: 5 },
  missing_package: { status: 500, exit: 5 },
  schema_too_new: { status: 500, exit: 5 },
  store_unavailable: { status: 503, exit: 5 },
  store_full: { status: 507, exit: 5 },
  shutting_down: { status: 503, exit: 6 },
  no_server: { status: 503, exit: 6 },
  internal: { status: 500, exit: 1 },
} as const satisfies Record<string, { status: number; exit: number }>;

export type ErrorCode = keyof typeof errorCodes;
