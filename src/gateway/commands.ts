import { registryOf } from "../db/command.ts";
import { claimOps } from "../deliveries/claim-ops.ts";
import { openPreview } from "../deliveries/open-preview.ts";
import { retryDelivery } from "../deliveries/retry-delivery.ts";
import { settleOp } from "../deliveries/settle-op.ts";
import { askAbort, stopPlace } from "../ledger/ask-abort.ts";
import { claimRuns } from "../ledger/claim-runs.ts";
import { grantRun } from "../ledger/grants.ts";
import { dropHold, takeHold } from "../ledger/holds.ts";
import { leaveNode, registerNode, renewLease } from "../ledger/nodes.ts";
import { noteEvent, storeCheckpoint, storeProgress } from "../ledger/note-run.ts";
import { absorbTurns } from "../runs/absorb-turns.ts";
import { finishRun } from "../runs/finish-run.ts";
import { noteToolRefusal, postByGrant } from "../runs/post-by-grant.ts";
import { postFromRun } from "../runs/post-from-run.ts";
import { recoverCommands } from "../runs/recover-runs.ts";
import { recordSend } from "../runs/send-outside.ts";
import { startJob } from "../runs/start-job.ts";
import { fireSchedule } from "../schedules/fire-schedule.ts";
import { hastenSchedule } from "../schedules/hasten-schedule.ts";
import { releaseHeld } from "../schedules/release-held.ts";
import { addReminder } from "../schedules/remind.ts";
import { addSchedule, changeSchedule, removeSchedule, syncSchedules } from "../schedules/store-schedule.ts";
import { acceptMessage } from "../turns/accept-message.ts";
import { answerWord } from "../turns/answer-word.ts";
import { amendMessage, withdrawMessage } from "../turns/change-message.ts";
import { beginMemory } from "../turns/memory.ts";
import { noteDenial } from "../turns/note-denial.ts";
import { clearSlot } from "../turns/slots.ts";

/** Every command by name. SQLite's writer thread imports this module, so it must import nothing that starts something. */
export const commands = registryOf([
  absorbTurns,
  acceptMessage,
  amendMessage,
  addReminder,
  addSchedule,
  answerWord,
  askAbort,
  beginMemory,
  changeSchedule,
  claimOps,
  claimRuns,
  clearSlot,
  dropHold,
  finishRun,
  fireSchedule,
  hastenSchedule,
  grantRun,
  leaveNode,
  noteDenial,
  noteEvent,
  openPreview,
  noteToolRefusal,
  postByGrant,
  postFromRun,
  recordSend,
  registerNode,
  releaseHeld,
  removeSchedule,
  renewLease,
  retryDelivery,
  settleOp,
  startJob,
  stopPlace,
  storeCheckpoint,
  storeProgress,
  syncSchedules,
  takeHold,
  withdrawMessage,
  ...recoverCommands,
]);
