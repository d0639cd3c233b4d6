import { memo } from "react";
import { Link } from "wouter";
import type { WireRun } from "../../../../src/http/api.ts";
import { useLanguage, useTexts } from "../../app/language.tsx";
import { senderName } from "../names.ts";
import { RetryRun, StopRun } from "./actions.tsx";
import { PlaceLink } from "./place-link.tsx";
import { reasonOf } from "./reasons.ts";
import classes from "./row.module.css";
import { RunBadge, toneOfRun } from "./state-badge.tsx";
import { Cell, Row, Table } from "./table.tsx";
import { Age } from "./time.tsx";

/** Runs in rows: what it is, how far it is or why it ended, where, since when, and what can be done. */
export function RunTable({ runs, label }: { runs: readonly WireRun[]; label: string }) {
  const t = useTexts();
  const columns = [
    t("console.runs.column_state"),
    t("console.runs.column_run"),
    t("console.runs.column_place"),
    t("console.runs.column_age"),
    t("console.runs.column_actions"),
  ];
  return (
    <Table label={label} columns={columns} kind="runs">
      {runs.map((run) => (
        <RunRow key={run.id} run={run} />
      ))}
    </Table>
  );
}

/** A list is written anew at each hint; a row only where its run has changed. */
const RunRow = memo(
  function RunRow({ run }: { run: WireRun }) {
    const t = useTexts();
    return (
      <Row>
        <Cell name="state">
          <RunBadge state={run.state} />
        </Cell>
        <Cell name="main">
          <Link href={`/runs/${run.id}`} className={classes["link"]} data-row-link>
            <strong>{run.agent}</strong>
            <span dir="auto">{firstLine(run.text)}</span>
          </Link>
          <div className={classes["below"]}>
            <span dir="auto">{t("console.runs.asked_by", { name: senderName(t, run.sender) })}</span>
            {run.background ? <span>{t("console.runs.job")}</span> : null}
            <Progress run={run} />
          </div>
        </Cell>
        <Cell name="place">
          <PlaceLink address={run.replyTo} />
        </Cell>
        <Cell name="age">
          <Age at={run.createdAt} />
        </Cell>
        <Cell name="actions">
          <StopRun run={run} />
          <RetryRun run={run} />
        </Cell>
      </Row>
    );
  },
  (before, after) => JSON.stringify(before.run) === JSON.stringify(after.run),
);

/** How far it is while it is going on; why it ended, where it did not complete. */
function Progress({ run }: { run: WireRun }) {
  const { locale } = useLanguage();
  if (run.reason !== null) {
    return (
      <span className={classes["reason"]} data-tone={toneOfRun(run.state)}>
        {reasonOf(locale, run.reason)}
      </span>
    );
  }
  if (run.progress === null || run.finishedAt !== null) return null;
  const { text, percent } = run.progress;
  return (
    <span className={classes["progress"]}>
      {percent === null ? null : <ProgressBar percent={percent} />}
      <span dir="auto">{text}</span>
    </span>
  );
}

/** Decoration beside the words that say it. */
export function ProgressBar({ percent }: { percent: number }) {
  return (
    <svg className={classes["bar"]} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="6" rx="3" className={classes["bar-back"]} />
      <rect width={percent} height="6" rx="3" className={classes["bar-front"]} />
    </svg>
  );
}

/** Long questions are for their page. */
function firstLine(text: string): string {
  return text.slice(0, 300).replaceAll(/\s+/g, " ").trim();
}
