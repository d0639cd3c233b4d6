import { sql } from "kysely";
import { all, command, first, type CommandEnv, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { recordDelivery, type NewDelivery } from "../deliveries/record-delivery.ts";
import { WaybillError } from "../kernel/errors.ts";
import { releaseJobs } from "../ledger/end-run.ts";
import { appendEvent, type RunEventKind } from "../ledger/events.ts";
import { once, type IdempotencyKey } from "../turns/idempotency.ts";
import { remember, type MemoryItem } from "../turns/memory.ts";

const lockRun = statement<{ tenant: string; run: string }>()((k, p, dialect) =>
  k
    .selectFrom("runs")
    .select(["finished_at", "reply_to"])
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .$if(dialect === "postgres", (q) => q.forUpdate()),
);

/** Without the fence: the call comes from outside of the run, perhaps through another node, perhaps after its end. */
const touchRun = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .updateTable("runs")
    .set({ event_seq: sql<number>`event_seq + 1` })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .returning("event_seq"),
);

function* note(
  tenant: string,
  run: string,
  kind: RunEventKind,
  data: Record<string, unknown>,
  now: number,
): Program<void> {
  const row = yield* first(touchRun, { tenant, run });
  if (row) yield* appendEvent(tenant, run, row.event_seq, kind, data, now);
}

export interface PostByGrantInput {
  tenant: string;
  run: string;
  /** How long after its end a run may still be acted for, in milliseconds. */
  graceMs: number;
  key: IdempotencyKey | null;
  delivery: NewDelivery;
  /** Set for what is said in the turn's own place: there the agent remembers it, and jobs begin with it. */
  said: { scope: string; item: MemoryItem } | null;
}

/** What became of a message. The same again for the same id. */
export interface Posted {
  delivery: string;
  address: string;
  state: string;
}

export interface PostByGrantOutput {
  posted: Posted;
  /** True if the id was used before, and this is what was answered then. */
  repeated: boolean;
  released: string[];
}

/**
 * Posts a message in the name of a run, for a tool's call. The run is looked at again under its lock: it may have ended
 * since it was chosen.
 * @throws WaybillError `turn_ended`, `idempotency_conflict`
 */
export const postByGrant = command(
  "runs.post-by-grant",
  function* (input: PostByGrantInput, env): Program<PostByGrantOutput> {
    const { tenant, run, delivery, key, said } = input;
    const live = yield* holdGranted(input, env);
    const { id, mode, place, rule } = delivery;
    const state = mode === "posted" ? "delivered" : mode === "blocked" ? "blocked" : "pending";
    const posted: Posted = { delivery: id, address: place.address, state };
    const before = key ? yield* once(tenant, key, posted, env.now) : null;
    if (before) return { posted: before, repeated: true, released: [] };
    yield* recordDelivery(delivery, env.now);
    const data = { delivery: id, address: place.address, rule, by: "tool", late: !live };
    yield* note(tenant, run, said ? "said" : "sent", data, env.now);
    if (!said) return { posted, repeated: false, released: [] };
    yield* remember(tenant, said.scope, said.item, env.now);
    const releases = live && mode !== "blocked";
    return { posted, repeated: false, released: releases ? yield* releaseJobs(tenant, run, env.now) : [] };
  },
);

function* holdGranted(input: PostByGrantInput, env: CommandEnv): Program<boolean> {
  const row = yield* first(lockRun, { tenant: input.tenant, run: input.run });
  if (row?.finished_at === null) return true;
  if (row && row.finished_at! > env.now - input.graceMs) return false;
  throw turnEnded(row?.reply_to ?? input.delivery.place.address, input.graceMs);
}

/** The error of a call that comes too late. */
export function turnEnded(address: string, graceMs: number): WaybillError {
  return new WaybillError(
    "turn_ended",
    `The turn at ${address} ended more than ${Math.round(graceMs / 1_000)} s ago, so nothing can be posted for it any ` +
      "more, there or elsewhere. What is left to say belongs to a new turn.",
    { field: "turn_conversation", address },
  );
}

/** Notes a refused call on each run that it may have belonged to. */
export const noteToolRefusal = command(
  "runs.note-tool-refusal",
  function* (
    input: {
      tenant: string;
      runs: readonly string[];
      kind: Extract<RunEventKind, "send_refused" | "tool_refused">;
      data: Record<string, unknown>;
    },
    env,
  ) {
    // In one order, so that two calls never wait for one another.
    for (const run of input.runs.toSorted()) {
      yield* all(lockRun, { tenant: input.tenant, run });
      yield* note(input.tenant, run, input.kind, input.data, env.now);
    }
  },
);
