import { all, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";

/** What happens to a run; the timeline, "why" and status read these. */
export type RunEventKind =
  | "staged"
  | "queued"
  | "amended"
  | "released"
  | "claimed"
  | "progress"
  | "checkpoint"
  | "said"
  | "sent"
  | "send_refused"
  | "tool_refused"
  | "reminder"
  | "preview"
  | "abort_asked"
  | "steered"
  | "waiting"
  | "resumed"
  | "completed"
  | "failed"
  | "cancelled"
  | "interrupted"
  | "requeued";

const insertEvent = statement<{
  tenant: string;
  run: string;
  seq: number;
  kind: string;
  data: string | null;
  at: number;
}>()((k, p) =>
  k.insertInto("run_events").values({
    tenant_id: p.tenant,
    run_id: p.run,
    event_seq: p.seq,
    kind: p.kind,
    data_json: p.data,
    at: p.at,
  }),
);

/**
 * Appends an event under a number that the caller has just taken from `runs.event_seq` in the same statement that
 * changed the run. So the numbers of a run are gapless and an event never stands without its change.
 */
export function* appendEvent(
  tenant: string,
  run: string,
  seq: number,
  kind: RunEventKind,
  data: Record<string, unknown> | null,
  at: number,
): Program<void> {
  yield* all(insertEvent, {
    tenant,
    run,
    seq,
    kind,
    data: data === null ? null : JSON.stringify({ v: 1, ...data }),
    at,
  });
}

export const readRunEvents = statement<{ tenant: string; run: string; after: number; limit: number }>()(
  (k, p) =>
    k
      .selectFrom("run_events")
      .select(["event_seq", "kind", "data_json", "at"])
      .where("tenant_id", "=", p.tenant)
      .where("run_id", "=", p.run)
      .where("event_seq", ">", p.after)
      .orderBy("event_seq")
      .limit(p.limit),
);
