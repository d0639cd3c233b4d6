import { sql } from "kysely";
import { command, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { WaybillError } from "../kernel/errors.ts";
import { appendEvent, type RunEventKind } from "./events.ts";
import { ownerLives } from "./nodes.ts";
import type { Fence } from "./run.ts";

const fencedTouch = statement<{
  tenant: string;
  run: string;
  owner: string;
  fence: number;
}>()((k, p) =>
  k
    .updateTable("runs")
    .set({ event_seq: sql<number>`event_seq + 1` })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where("owner", "=", p.owner)
    .where("fence", "=", p.fence)
    .where(sql<boolean>`state in ('running', 'waiting')`)
    .where(ownerLives(p))
    .returning("event_seq"),
);

const fencedProgress = statement<Fence & { text: string; percent: number | null; now: number }>()((k, p) =>
  k
    .updateTable("runs")
    .set({
      progress: p.text,
      progress_percent: p.percent,
      progress_at: p.now,
      event_seq: sql<number>`event_seq + 1`,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where("owner", "=", p.owner)
    .where("fence", "=", p.fence)
    .where(sql<boolean>`state in ('running', 'waiting')`)
    .where(ownerLives(p))
    .returning("event_seq"),
);

const fencedCheckpoint = statement<Fence & { value: string }>()((k, p) =>
  k
    .updateTable("runs")
    .set({ checkpoint_json: p.value, event_seq: sql<number>`event_seq + 1` })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where("owner", "=", p.owner)
    .where("fence", "=", p.fence)
    .where(sql<boolean>`state in ('running', 'waiting')`)
    .where(ownerLives(p))
    .returning("event_seq"),
);

function lost(run: string): WaybillError {
  return new WaybillError("run_lost", `The run ${run} is no longer this process's to write.`, { run });
}

/** Appends an event to a live run under its fence. @throws WaybillError `run_lost` */
export function* noteRun(
  fence: Fence,
  kind: RunEventKind,
  data: Record<string, unknown> | null,
  now: number,
): Program<void> {
  const row = yield* first(fencedTouch, fence);
  if (!row) throw lost(fence.run);
  yield* appendEvent(fence.tenant, fence.run, row.event_seq, kind, data, now);
}

/** The same as a command of its own. */
export const noteEvent = command(
  "ledger.note-event",
  function* (input: { fence: Fence; kind: RunEventKind; data: Record<string, unknown> | null }, env) {
    yield* noteRun(input.fence, input.kind, input.data, env.now);
  },
);

/** Stores what a run says of its progress. @throws WaybillError `run_lost` */
export const storeProgress = command(
  "ledger.store-progress",
  function* (input: { fence: Fence; text: string; percent: number | null }, env) {
    const row = yield* first(fencedProgress, {
      ...input.fence,
      text: input.text,
      percent: input.percent,
      now: env.now,
    });
    if (!row) throw lost(input.fence.run);
    const data = { text: input.text, percent: input.percent };
    yield* appendEvent(input.fence.tenant, input.fence.run, row.event_seq, "progress", data, env.now);
  },
);

/** Stores a value from which a later attempt goes on. @throws WaybillError `run_lost` */
export const storeCheckpoint = command(
  "ledger.store-checkpoint",
  function* (input: { fence: Fence; value: string }, env) {
    const row = yield* first(fencedCheckpoint, { ...input.fence, value: input.value });
    if (!row) throw lost(input.fence.run);
    yield* appendEvent(input.fence.tenant, input.fence.run, row.event_seq, "checkpoint", null, env.now);
  },
);
