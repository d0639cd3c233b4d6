/**
 * Literal pins of what other programs hold on to. A change here is a change of the public surface: it is made on
 * purpose, with a changeset, or not at all.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { errorCodes } from "../src/kernel/error-codes.ts";

test("error codes, each with its HTTP status and exit code", () => {
  const lines = Object.entries(errorCodes).map(([code, { status, exit }]) => `${code} ${status} ${exit}`);
  expect(lines.toSorted()).toEqual([
    "agent_bad_output 500 1",
    "agent_crashed 500 1",
    "agent_failed 500 1",
    "agent_not_started 500 1",
    "agent_output_too_large 500 1",
    "body_too_large 413 2",
    "config_invalid 500 5",
    "config_not_found 500 5",
    "config_syntax 500 5",
    "cross_post_not_allowed 403 4",
    "daily_cap 429 4",
    "data_folder_unusable 500 5",
    "data_in_use 500 5",
    "deadline_exceeded 504 1",
    "delivery_not_retryable 409 1",
    "destination_gone 410 4",
    "destination_not_allowed 403 4",
    "forbidden 403 4",
    "foreign_host 403 4",
    "foreign_origin 403 4",
    "forged_echo 403 4",
    "grant_expired 401 4",
    "idempotency_conflict 409 2",
    "internal 500 1",
    "invalid_address 400 2",
    "invalid_echo 400 2",
    "invalid_grant 401 4",
    "invalid_id 400 2",
    "invalid_json 400 2",
    "invalid_offset 400 2",
    "invalid_request 400 2",
    "invalid_signature 401 4",
    "method_not_allowed 405 2",
    "missing_package 500 5",
    "no_destination 409 4",
    "no_live_turn 409 4",
    "no_server 503 6",
    "not_found 404 3",
    "platform_unavailable 503 1",
    "port_in_use 500 5",
    "provider_bad_answer 502 1",
    "provider_failed 502 1",
    "provider_rate_limited 502 1",
    "provider_unauthorized 502 1",
    "rate_limited 429 4",
    "run_finished 409 1",
    "run_lost 409 1",
    "run_not_retryable 409 1",
    "schema_too_new 500 5",
    "sender_not_allowed 403 4",
    "shutting_down 503 6",
    "step_limit 429 1",
    "store_full 507 5",
    "store_unavailable 503 5",
    "stream_closed 409 1",
    "stream_fenced 409 1",
    "token_limit 429 1",
    "token_required 500 5",
    "too_many_reminders 429 1",
    "turn_ended 410 4",
    "turn_mismatch 403 4",
    "turn_not_granted 403 4",
    "turn_required 409 4",
    "unauthorized 401 4",
    "unknown_agent 404 3",
    "unknown_delivery 404 3",
    "unknown_run 404 3",
    "unknown_schedule 404 3",
    "unknown_stream 404 3",
    "unsupported_media_type 415 2",
  ]);
});

test("an error code is snake_case", () => {
  for (const code of Object.keys(errorCodes)) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
});

/**
 * The runtime names that each entry of package.json exports. An entry whose module does not exist yet has no pin; as
 * soon as it exists, a pin is asked for.
 */
const pins: Readonly<Record<string, readonly string[]>> = {
  "src/index.ts": ["agent", "createGateway", "defineConfig"],
  "src/test-kit/index.ts": ["manualClock", "recordingChannel", "testGateway"],
  "src/channels/webhook/index.ts": ["webhook"],
  "src/channels/irc/index.ts": ["irc"],
  "src/channels/slack/index.ts": ["slack"],
  "src/channels/telegram/index.ts": ["telegram"],
};

const root = path.resolve(import.meta.dirname, "..");

test("every entry of package.json has its pins", () => {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    exports: Record<string, string | { default: string }>;
  };
  const modules = Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry.default],
  );
  const sources = modules.map((file) => file.replace("./dist/", "src/").replace(/\.js$/, ".ts"));
  expect(sources.toSorted()).toEqual(Object.keys(pins).toSorted());
});

for (const [file, names] of Object.entries(pins)) {
  if (existsSync(path.join(root, file))) {
    test(`the names that ${file} exports`, async () => {
      const module = (await import(pathToFileURL(path.join(root, file)).href)) as object;
      expect(Object.keys(module).toSorted()).toEqual(names);
    });
  } else {
    test.todo(`the names that ${file} exports`);
  }
}
