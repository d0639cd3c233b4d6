import type { ErrorCode } from "../kernel/error-codes.ts";
import { asWaybillError, WaybillError } from "../kernel/errors.ts";
import { redact } from "../kernel/redact.ts";
import type { EndState } from "../ledger/end-run.ts";
import { endOfCause } from "../ledger/end-run.ts";
import type { AbortCause } from "../ledger/run.ts";
import { renderText, type Locale, type TextKey } from "../texts/render.ts";

export interface Outcome {
  state: EndState;
  reason: string | null;
  /** For operators: what was thrown, without what looks like a secret. */
  detail: string | null;
}

export const completed: Outcome = { state: "completed", reason: null, detail: null };

type RunTextKey = Extract<TextKey, `run.${string}`>;

const keys: Partial<Record<ErrorCode, RunTextKey>> = {
  deadline_exceeded: "run.deadline",
  token_limit: "run.limit_tokens",
  step_limit: "run.limit_steps",
  provider_unauthorized: "run.provider_failed",
  provider_rate_limited: "run.provider_failed",
  provider_failed: "run.provider_failed",
  provider_bad_answer: "run.provider_failed",
  agent_output_too_large: "run.too_large",
  agent_bad_output: "run.bad_output",
};

/** What people read of a run that did not complete; null where they are told otherwise (`stop` says so itself). */
export function noticeOf(state: EndState, reason: string | null): RunTextKey | null {
  if (state === "interrupted") return "run.interrupted";
  if (state === "failed") return keys[reason as ErrorCode] ?? "run.failed";
  return null;
}

export function noticeText(locale: Locale, key: RunTextKey, run: string): string {
  return renderText(locale, key, { run });
}

/** A cause that was stored before the signal decides, whatever the agent threw afterwards. */
export function outcomeOfCause(cause: AbortCause): Outcome {
  const reason = cause === "deadline" ? "deadline_exceeded" : cause;
  return { state: endOfCause(cause), reason, detail: null };
}

/** What an agent threw, as the way its run ended. */
export function outcomeOfError(thrown: unknown): Outcome {
  const isOurs = thrown instanceof WaybillError;
  const error = asWaybillError(thrown);
  const said = isOurs ? error.message : sayThrown(thrown);
  return { state: "failed", reason: isOurs ? error.code : "agent_failed", detail: redact(said) };
}

function sayThrown(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  } catch {
    return "something that cannot be shown as text";
  }
}
