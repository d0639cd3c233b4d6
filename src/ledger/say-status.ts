import { ageText } from "../texts/age.ts";
import { reasonText, renderText, type Locale } from "../texts/render.ts";
import type { RunRecord } from "./read-runs.ts";

/** At most this many runs are told in one sentence of status. */
const TOLD = 5;

/**
 * The sentence that people get when they ask for status: facts of the ledger and nothing else.
 * @param runs of one place, live ones first, as `readPlaceRuns` gives them
 */
export function sayStatus(runs: readonly RunRecord[], now: number, locale: Locale): string {
  // A message that a run took in while it ran is answered there; its own run is no story of its own.
  const own = runs.filter((run) => run.reason !== "steered");
  if (own.length === 0) return renderText(locale, "status.none", {});
  const live = own.filter((run) => run.finishedAt === null);
  const told = live.length > 0 ? live : own.slice(0, 1);
  return told
    .slice(0, TOLD)
    .map((run) => sayRun(run, now, locale))
    .join("\n");
}

export function sayRun(run: RunRecord, now: number, locale: Locale): string {
  const { agent, progress } = run;
  const age = (since: number | null): string => ageText(locale, Math.max(0, now - (since ?? run.createdAt)));
  switch (run.state) {
    case "staged":
    case "queued":
      return renderText(locale, `status.${run.state}`, { agent, age: age(run.createdAt) });
    case "running":
      return progress === null
        ? renderText(locale, "status.running", { agent, age: age(run.startedAt) })
        : renderText(locale, "status.running_progress", { agent, age: age(run.startedAt), progress });
    case "waiting":
      return renderText(locale, "status.waiting", { agent, age: age(run.startedAt) });
    case "failed":
      return renderText(locale, "status.failed", {
        agent,
        age: age(run.finishedAt),
        reason: reasonText(locale, run.reason ?? "internal"),
      });
    case "completed":
    case "cancelled":
    case "interrupted":
      return renderText(locale, `status.${run.state}`, { agent, age: age(run.finishedAt) });
  }
}
