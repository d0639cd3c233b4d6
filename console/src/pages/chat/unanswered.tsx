import { Ban, RotateCcw } from "lucide-react";
import { useState } from "react";
import type { WireMessage } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { announce } from "../../components/live-region.tsx";
import { retryRun } from "../../data/runs.ts";
import classes from "./message-row.module.css";
import { useRestedRun } from "../../components/use-rested-run.ts";

/** The notices of runs that ended without an answer. */
const unanswered = new Set([
  "run.failed",
  "run.interrupted",
  "run.cancelled",
  "run.deadline",
  "run.limit_tokens",
  "run.limit_steps",
  "run.provider_failed",
  "run.too_large",
  "run.bad_output",
]);

/**
 * What became of a question that has no answer: under a notice the way to ask again; and under the question itself
 * that somebody stopped it, since nothing is posted then.
 */
export function Unanswered({ message }: { message: WireMessage }) {
  const { role, notice, run } = message;
  if (run === null) return null;
  if (notice && unanswered.has(notice.key)) return <AskAgain run={run} />;
  return role === "user" ? <Stopped run={run} /> : null;
}

function Stopped({ run }: { run: string }) {
  const t = useTexts();
  const found = useRestedRun(run);
  if (found?.state !== "cancelled") return null;
  return (
    <p className={classes["stopped"]}>
      <Ban size={14} aria-hidden />
      {t("console.chat.stopped")}
      <AskAgain run={run} />
    </p>
  );
}

/** A run that ended without an answer can be asked again, once from here. */
function AskAgain({ run }: { run: string }) {
  const t = useTexts();
  const [state, setState] = useState<"idle" | "asking" | "asked">("idle");
  if (state === "asked") return null;
  const retry = async (): Promise<void> => {
    setState("asking");
    try {
      await retryRun(run);
      setState("asked");
    } catch {
      setState("idle");
      announce(t("console.error.title"));
    }
  };
  return (
    <button
      type="button"
      className={classes["retry"]}
      disabled={state === "asking"}
      onClick={() => void retry()}
    >
      <RotateCcw size={14} aria-hidden />
      {t("console.chat.ask_again")}
    </button>
  );
}
