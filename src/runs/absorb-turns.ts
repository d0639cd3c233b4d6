import { sql } from "kysely";
import { all, command, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { hold } from "../ledger/end-run.ts";
import { appendEvent } from "../ledger/events.ts";
import { lockLane } from "../ledger/lanes.ts";
import { noteRun } from "../ledger/note-run.ts";
import type { Fence, RunInput } from "../ledger/run.ts";

const queuedBehind = statement<{ tenant: string; lane: string; agent: string }>()((k, p, dialect) =>
  k
    .selectFrom("runs")
    .select(["id", "agent", "input_json"])
    .where("tenant_id", "=", p.tenant)
    .where("lane", "=", p.lane)
    .where("foreground", "=", sql.lit(1))
    .where(sql<boolean>`finished_at is null and state = 'queued'`)
    .orderBy("lane_seq")
    .$if(dialect === "postgres", (q) => q.forUpdate()),
);

const takeOver = statement<{ tenant: string; run: string; reason: string; now: number }>()((k, p) =>
  k
    .updateTable("runs")
    .set({
      state: sql.lit("cancelled"),
      reason: p.reason,
      finished_at: p.now,
      ready: sql.lit(0),
      event_seq: sql<number>`event_seq + 1`,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where(sql<boolean>`state = 'queued'`)
    .returning("event_seq"),
);

const takenBefore = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .selectFrom("run_events")
    .select("data_json")
    .where("tenant_id", "=", p.tenant)
    .where("run_id", "=", p.run)
    .where("kind", "=", sql.lit("steered"))
    .orderBy("event_seq"),
);

const inputOf = statement<{ tenant: string; run: string }>()((k, p) =>
  k.selectFrom("runs").select("input_json").where("tenant_id", "=", p.tenant).where("id", "=", p.run),
);

export interface AbsorbInput {
  fence: Fence;
  lane: string;
  agent: string;
  sender: string;
  /** True: also what an earlier attempt of this run took over, which nobody else will answer. */
  again?: boolean;
}

interface Taken {
  run: string;
  id: string;
  text: string;
  parts: RunInput["parts"];
}

/**
 * A steerable run takes over the messages that wait behind it in its lane, as far as the same person sent them for the
 * same agent; the first that does not fit ends the taking, so order holds. What is not taken is answered by its own run.
 * @throws WaybillError `run_lost`
 */
export const absorbTurns = command("runs.absorb-turns", function* (input: AbsorbInput, env) {
  const { tenant, run } = input.fence;
  yield* lockLane(tenant, input.lane, env);
  yield* hold(input.fence);
  const taken: Taken[] = input.again === true ? yield* takenEarlier(tenant, run) : [];
  for (const row of yield* all(queuedBehind, { tenant, lane: input.lane, agent: input.agent })) {
    const asked = JSON.parse(row.input_json) as RunInput;
    if (row.agent !== input.agent || asked.sender.id !== input.sender) break;
    const moved = yield* first(takeOver, { tenant, run: row.id, reason: "steered", now: env.now });
    if (!moved) break;
    const data = { reason: "steered", into: run };
    yield* appendEvent(tenant, row.id, moved.event_seq, "cancelled", data, env.now);
    yield* noteRun(input.fence, "steered", { from: row.id }, env.now);
    taken.push(takenFrom(row.id, asked));
  }
  return taken;
});

/** What this run took over before its process died, by its own events. */
function* takenEarlier(tenant: string, run: string): Program<Taken[]> {
  const taken: Taken[] = [];
  for (const { data_json } of yield* all(takenBefore, { tenant, run })) {
    const { from } = JSON.parse(data_json ?? "{}") as { from?: string };
    const row = from === undefined ? undefined : yield* first(inputOf, { tenant, run: from });
    if (from !== undefined && row) taken.push(takenFrom(from, JSON.parse(row.input_json) as RunInput));
  }
  return taken;
}

function takenFrom(run: string, asked: RunInput): Taken {
  return { run, id: asked.message ?? run, text: asked.text, parts: asked.parts };
}
