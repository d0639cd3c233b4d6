import { sql } from "kysely";
import { all, command, first, type CommandEnv, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { WaybillError } from "../kernel/errors.ts";
import { cancelBeforeStart } from "./end-run.ts";
import { appendEvent } from "./events.ts";
import { lockLane } from "./lanes.ts";
import { isTerminal, type AbortCause, type RunState } from "./run.ts";

const findRun = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(["id", "state", "lane", "reply_to"])
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run),
);

/** The live runs of a place, each kind by an index of its own: asked and due here, and due here but asked elsewhere. */
const liveHere = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(["id", "state", "reply_to", "created_at"])
    .where("tenant_id", "=", p.tenant)
    .where("origin", "=", p.address)
    .where("reply_to", "=", p.address)
    .where(sql<boolean>`finished_at is null`),
);

const liveFromElsewhere = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(["id", "state", "reply_to", "created_at"])
    .where("tenant_id", "=", p.tenant)
    .where("reply_to", "=", p.address)
    .where(sql<boolean>`reply_to <> origin and finished_at is null`),
);

const storeCause = statement<{ tenant: string; run: string; cause: string; reason: string }>()((k, p) =>
  k
    .updateTable("runs")
    .set({ abort_cause: p.cause, reason: p.reason, event_seq: sql<number>`event_seq + 1` })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where(sql<boolean>`state in ('running', 'waiting')`)
    .where("abort_cause", "is", null)
    .returning(["event_seq", "reply_to"]),
);

export interface AskedAbort {
  run: string;
  /** Where its answer was due. */
  address: string;
  /** `cancelled`: it had not started and is cancelled now. `asked`: the cause is stored; give the signal. */
  how: "cancelled" | "asked" | "ended";
}

/** Stores the cause before anybody gives the signal, so that whatever is thrown afterwards maps to the right state. */
function* abort(
  tenant: string,
  run: { id: string; state: string; reply_to: string },
  cause: AbortCause,
  reason: string,
  env: CommandEnv,
): Program<AskedAbort> {
  const asked = { run: run.id, address: run.reply_to };
  if (yield* cancelBeforeStart(tenant, run.id, reason, cause, env)) return { ...asked, how: "cancelled" };
  const row = yield* first(storeCause, { tenant, run: run.id, cause, reason });
  if (row) yield* appendEvent(tenant, run.id, row.event_seq, "abort_asked", { cause, reason }, env.now);
  // Already asked counts as asked: the signal may be given twice, the first cause stays.
  return { ...asked, how: isTerminal(run.state as RunState) ? "ended" : "asked" };
}

/**
 * Asks one run to end.
 * @throws WaybillError `unknown_run`, `run_finished`
 */
export const askAbort = command(
  "ledger.ask-abort",
  function* (input: { tenant: string; run: string; cause: AbortCause; reason: string }, env) {
    const run = yield* first(findRun, input);
    if (!run) throw new WaybillError("unknown_run", `There is no run ${input.run}.`, { run: input.run });
    if (isTerminal(run.state as RunState)) {
      throw new WaybillError("run_finished", `The run ${input.run} has ended already (${run.state}).`, {
        run: input.run,
        state: run.state,
      });
    }
    yield* lockLane(input.tenant, run.lane, env);
    return yield* abort(input.tenant, run, input.cause, input.reason, env);
  },
);

/** Asks one run to end, as part of a larger command. Null: there is no such run, or it has ended. */
export function* abortRun(
  input: { tenant: string; run: string; reason: string },
  env: CommandEnv,
): Program<AskedAbort | null> {
  const run = yield* first(findRun, input);
  if (!run || isTerminal(run.state as RunState)) return null;
  yield* lockLane(input.tenant, run.lane, env);
  return yield* abort(input.tenant, run, "cancel", input.reason, env);
}

/** Asks every live run whose answer is due at this address to end; others of the conversation are left alone. */
export const stopPlace = command(
  "ledger.stop-place",
  function* (input: { tenant: string; address: string; reason: string }, env) {
    yield* lockLane(input.tenant, input.address, env);
    return yield* abortPlace(input, env);
  },
);

/** The same as part of a larger command, which has entered or locked the lane of the place. */
export function* abortPlace(
  input: { tenant: string; address: string; reason: string },
  env: CommandEnv,
): Program<AskedAbort[]> {
  const asked: AskedAbort[] = [];
  const here = yield* all(liveHere, input);
  const live = [...here, ...(yield* all(liveFromElsewhere, input))];
  for (const run of live.toSorted((a, b) => a.created_at - b.created_at)) {
    asked.push(yield* abort(input.tenant, run, "cancel", input.reason, env));
  }
  return asked;
}

/** A newer message of the same lane interrupts the run that is going on there (`followUp: "interrupt"`). */
export function* interruptRun(tenant: string, run: string, env: CommandEnv): Program<AskedAbort | null> {
  const row = yield* first(storeCause, { tenant, run, cause: "cancel", reason: "newer_message" });
  if (!row) return null;
  yield* appendEvent(
    tenant,
    run,
    row.event_seq,
    "abort_asked",
    { cause: "cancel", reason: "newer_message" },
    env.now,
  );
  return { run, address: row.reply_to, how: "asked" };
}
