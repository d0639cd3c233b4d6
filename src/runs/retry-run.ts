import { readRun } from "../ledger/read-runs.ts";
import { WaybillError } from "../kernel/errors.ts";
import { relatedId } from "../kernel/ids.ts";
import { isTerminal, type RunInput } from "../ledger/run.ts";
import { statement } from "../db/statement.ts";
import { placeOf } from "../deliveries/plan-delivery.ts";
import { parseAddress } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import { acceptMessage, type AcceptOutput } from "../turns/accept-message.ts";
import { scopeOf } from "../turns/inbox.ts";
import type { RunServices } from "./services.ts";

const inputOf = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(["input_json", "lane", "foreground", "recovery"])
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run),
);

/**
 * Asks again what a run was asked that failed, was interrupted or cancelled: a new turn with a run of its own, at the
 * same address, caused by the old one. The person's message stands already and is not posted twice.
 * Asked again for the same run: the same answer; if the new run failed too, it is the one to ask again.
 * @throws WaybillError `unknown_run`, `run_not_retryable`
 */
export async function retryRun(s: RunServices, id: string): Promise<AcceptOutput> {
  const old = await readRun(s.db, s.tenant, id);
  const [row] = await s.db.read(inputOf, { tenant: s.tenant, run: id });
  if (!old || !row) throw new WaybillError("unknown_run", `There is no run ${id}.`, { run: id });
  if (!isTerminal(old.state) || old.state === "completed") {
    throw new WaybillError(
      "run_not_retryable",
      `The run ${id} is ${old.state}; only failed, interrupted and cancelled ones can be asked again.`,
      { run: id, state: old.state },
    );
  }
  const agent = s.agents.get(old.agent);
  const input = JSON.parse(row.input_json) as RunInput;
  const [turn, run] = [s.ids.next("turn"), s.ids.next("run")];
  const stream = relatedId(run, "str");
  return s.db.do(acceptMessage, {
    tenant: s.tenant,
    // Pressed twice, or sent again by a client that heard no answer: one new run, and the same answer.
    key: { scope: "retry", key: id, digest: id },
    place: placeOf(parseAddress(old.replyTo), input.kind as ConversationKind),
    message: null,
    sender: input.sender,
    followUp: "queue",
    caps: [],
    capReply: null,
    acknowledge: null,
    slots: false,
    run: {
      tenant: s.tenant,
      id: run,
      agent: old.agent,
      agentVersion: agent.version,
      turn,
      foreground: row.foreground === 1,
      lane: row.lane,
      state: "queued",
      recovery: agent.recovery,
      parent: null,
      root: run,
      stream,
      streamRoot: stream,
      trace: old.trace,
      causedBy: id,
      origin: old.origin,
      replyTo: old.replyTo,
      scope: scopeOf(s.memory, old.replyTo),
      input: old.attempts > 0 ? { ...input, again: true } : input,
      limits: { ...s.runLimits, ...agent.limits },
    },
  });
}
