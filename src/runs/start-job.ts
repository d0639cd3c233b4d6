import { command } from "../db/command.ts";
import { hold } from "../ledger/end-run.ts";
import { enterLane } from "../ledger/lanes.ts";
import { noteRun } from "../ledger/note-run.ts";
import { recordRun, recordTurn, type NewRun } from "../ledger/record-run.ts";
import { WaybillError } from "../kernel/errors.ts";
import { countUse, type DailyCap } from "../turns/daily-caps.ts";
import type { Fence } from "../ledger/run.ts";

export interface StartJobInput {
  fence: Fence;
  caps: readonly DailyCap[];
  job: Omit<NewRun, "ready" | "laneSeq" | "state" | "foreground">;
}

/**
 * Records a job that a live run asks for. It is `staged`: not claimable until the run's next message here is
 * committed, so there is never a job at work that nobody was told of.
 * @throws WaybillError `run_lost`, `daily_cap`
 */
export const startJob = command("runs.start-job", function* (input: StartJobInput, env) {
  const { fence, job } = input;
  const laneSeq = yield* enterLane(job.tenant, job.lane);
  yield* hold(fence);
  if (yield* countUse(job.tenant, input.caps, env.now)) {
    throw new WaybillError(
      "daily_cap",
      `The agent ${job.agent}, or the person it would work for, has used up its runs of today (UTC).`,
      { agent: job.agent },
    );
  }
  yield* recordTurn(
    {
      tenant: job.tenant,
      id: job.turn,
      kind: "call",
      address: job.replyTo,
      lane: job.lane,
      laneSeq,
      message: job.input.message,
      sender: job.input.sender,
      causedBy: fence.run,
    },
    env.now,
  );
  yield* recordRun({ ...job, laneSeq, ready: false, state: "staged", foreground: false }, env.now);
  yield* noteRun(fence, "staged", { job: job.id, agent: job.agent }, env.now);
});
