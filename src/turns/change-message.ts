import { sql } from "kysely";
import { all, command, first, type CommandEnv, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { abortRun, type AskedAbort } from "../ledger/ask-abort.ts";
import { appendEvent } from "../ledger/events.ts";
import type { RunInput } from "../ledger/run.ts";
import { withdrawnKey } from "./memory.ts";
import { readKept } from "./idempotency.ts";
import type { Accepted, ChangeOutcome } from "./incoming.ts";

const noParts = sql.lit(JSON.stringify({ v: 1, parts: [] }));

/** A change that a person made to a message which was accepted; `scope` and `key` as in idempotency. */
export interface ChangeInput {
  tenant: string;
  scope: string;
  key: string;
  sender: string;
  text: string;
}

const messageOf = statement<{ tenant: string; id: string }>()((k, p) =>
  k
    .selectFrom("messages")
    .select(["id", "text", "sender_id"])
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

const inputOf = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select("input_json")
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where("started_at", "is", null)
    .where("finished_at", "is", null),
);

/** Under a guard of its own: between looking and writing another node may have claimed it. */
const setInput = statement<{ tenant: string; run: string; input: string }>()((k, p) =>
  k
    .updateTable("runs")
    .set({ input_json: p.input, event_seq: sql<number>`event_seq + 1` })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where(sql<boolean>`state in ('staged', 'queued') and started_at is null`)
    .returning("event_seq"),
);

const setMessage = statement<{ tenant: string; id: string; text: string; parts: string }>()((k, p) =>
  k
    .updateTable("messages")
    .set({ text: p.text, parts_json: p.parts })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

/** It stays as a notice, so that people see that something stood there; a run that ends later does not remember it. */
const takeBack = statement<{ tenant: string; id: string }>()((k, p) =>
  k
    .updateTable("messages")
    .set({ text: "", parts_json: noParts, notice_key: sql.lit(withdrawnKey), notice_json: sql.lit("{}") })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id),
);

const setMemory = statement<{ tenant: string; origin: string; text: string }>()((k, p) =>
  k
    .updateTable("memory_items")
    .set({ text: p.text })
    .where("tenant_id", "=", p.tenant)
    .where("origin", "=", p.origin)
    .where("role", "=", sql.lit("user")),
);

const forgetMessage = statement<{ tenant: string; origin: string }>()((k, p) =>
  k
    .deleteFrom("memory_items")
    .where("tenant_id", "=", p.tenant)
    .where("origin", "=", p.origin)
    .where("role", "=", sql.lit("user")),
);

/** What was accepted under the key, if it was this sender's. */
function* acceptedOf(input: ChangeInput): Program<{ accepted: Accepted; text: string } | null> {
  const accepted = yield* readKept<Accepted>(input.tenant, input);
  const message = accepted ? yield* first(messageOf, { tenant: input.tenant, id: accepted.message }) : null;
  return accepted && message?.sender_id === input.sender ? { accepted, text: message.text } : null;
}

/**
 * A message says something else now. A run that has not begun answers the new text; one that has begun keeps what it was
 * given, and only the record of what was said changes. The same change again does nothing.
 */
export const amendMessage = command(
  "turns.amend-message",
  function* (input: ChangeInput, env): Program<ChangeOutcome> {
    const { tenant, text } = input;
    const found = yield* acceptedOf(input);
    if (!found) return "unknown";
    if (found.text === text) return "record";
    const { run, message } = found.accepted;
    const changed = run === null ? false : yield* amendInput(tenant, run, text, env);
    yield* all(setMessage, {
      tenant,
      id: message,
      text,
      parts: JSON.stringify({ v: 1, parts: [{ type: "text", text }] }),
    });
    yield* all(setMemory, { tenant, origin: message, text });
    return changed ? "run" : "record";
  },
);

function* amendInput(tenant: string, run: string, text: string, env: CommandEnv): Program<boolean> {
  const row = yield* first(inputOf, { tenant, run });
  if (!row) return false;
  const before = JSON.parse(row.input_json) as RunInput;
  // Files stay: an edit of a platform says the new text only.
  const files = before.parts.filter((part) => part.type !== "text");
  const after = { ...before, text, parts: [{ type: "text" as const, text }, ...files] };
  const set = yield* first(setInput, { tenant, run, input: JSON.stringify(after) });
  if (!set) return false;
  yield* appendEvent(tenant, run, set.event_seq, "amended", {}, env.now);
  return true;
}

/**
 * A message was taken back: nobody reads it any more, no agent is given it, and a run that answers it is asked to end.
 * Nothing is posted about that.
 */
export const withdrawMessage = command(
  "turns.withdraw-message",
  function* (input: ChangeInput, env): Program<{ outcome: ChangeOutcome; aborts: AskedAbort[] }> {
    const { tenant } = input;
    const found = yield* acceptedOf(input);
    if (!found) return { outcome: "unknown", aborts: [] };
    const { run, message } = found.accepted;
    const asked = run === null ? null : yield* abortRun({ tenant, run, reason: "withdrawn" }, env);
    yield* all(takeBack, { tenant, id: message });
    yield* all(forgetMessage, { tenant, origin: message });
    return { outcome: asked ? "run" : "record", aborts: asked ? [asked] : [] };
  },
);
