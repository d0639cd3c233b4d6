import { Link } from "wouter";
import { ageText } from "../../../../src/texts/age.ts";
import type { WireSchedule } from "../../../../src/http/api.ts";
import { useLanguage, useTexts } from "../../app/language.tsx";
import { PlaceLink } from "../../components/records/place-link.tsx";
import row from "../../components/records/row.module.css";
import { ScheduleBadge } from "../../components/records/state-badge.tsx";
import { Cell, Row, Table } from "../../components/records/table.tsx";
import { useNow } from "../../components/records/time.tsx";
import { placeParts } from "../../data/place.ts";
import { fullTimeText } from "../../data/time.ts";
import { ChangeState, FireNow } from "./schedule-actions.tsx";

/** Schedules in rows: what each says or asks, where it goes, when next, and what it led to the last time. */
export function ScheduleTable({ schedules }: { schedules: readonly WireSchedule[] }) {
  const t = useTexts();
  const columns = [
    t("console.runs.column_state"),
    t("console.schedules.column_schedule"),
    t("console.schedules.column_place"),
    t("console.schedules.column_next"),
    t("console.schedules.column_last"),
    t("console.runs.column_actions"),
  ];
  return (
    <Table label={t("console.page.schedules")} columns={columns} kind="schedules">
      {schedules.map((schedule) => (
        <ScheduleRow key={schedule.id} schedule={schedule} />
      ))}
    </Table>
  );
}

function ScheduleRow({ schedule }: { schedule: WireSchedule }) {
  const t = useTexts();
  const { id, text, agent, cron, timeZone, source, incomplete } = schedule;
  return (
    <Row>
      <Cell name="state">
        <ScheduleBadge schedule={schedule} />
      </Cell>
      <Cell name="main">
        <div className={row["words"]}>
          <strong>{id}</strong>
          <span dir="auto">{text}</span>
        </div>
        <div className={row["below"]}>
          <span>{cron === null ? t("console.schedules.once") : `${cron} (${timeZone})`}</span>
          {agent === null ? null : <span>{t("console.schedules.asks", { agent })}</span>}
          {source === "settings" ? <span>{t("console.schedules.by_settings")}</span> : null}
          {source === "agent" ? <AskedBy schedule={schedule} /> : null}
          {incomplete === null ? null : (
            <span className={row["reason"]} dir="auto">
              {incomplete}
            </span>
          )}
        </div>
      </Cell>
      <Cell name="place">
        <Target schedule={schedule} />
      </Cell>
      <Cell name="next">
        <Next schedule={schedule} />
      </Cell>
      <Cell name="last">
        <Last schedule={schedule} />
      </Cell>
      <Cell name="actions">
        <FireNow schedule={schedule} />
        <ChangeState schedule={schedule} />
      </Cell>
    </Row>
  );
}

function AskedBy({ schedule }: { schedule: WireSchedule }) {
  const t = useTexts();
  const text = t("console.schedules.by_run");
  if (schedule.askedBy === null) return <span>{text}</span>;
  return <Link href={`/runs/${schedule.askedBy}`}>{text}</Link>;
}

/** An address, a slot of an account, or what was written instead of one. */
function Target({ schedule: { to, account } }: { schedule: WireSchedule }) {
  const t = useTexts();
  if (to === null) return <PlaceLink address="" />;
  if (account !== null) return <span>{t("console.schedules.slot", { slot: to, account })}</span>;
  return placeParts(to) === null ? <code>{to}</code> : <PlaceLink address={to} />;
}

function Next({ schedule: { nextAt, state } }: { schedule: WireSchedule }) {
  const { t, locale } = useLanguage();
  const now = useNow(nextAt !== null);
  if (nextAt === null) {
    return <span>{t(state === "disabled" ? "console.schedules.paused" : "console.schedules.never")}</span>;
  }
  const left = Date.parse(nextAt) - now;
  return (
    <time dateTime={nextAt} title={fullTimeText(locale, nextAt)}>
      {left <= 0 ? t("console.schedules.now") : t("console.schedules.in", { span: ageText(locale, left) })}
    </time>
  );
}

/** When it was fired last; the way to what that led to. */
function Last({ schedule: { lastAt, lastRun, lastDelivery } }: { schedule: WireSchedule }) {
  const { t, locale } = useLanguage();
  const now = useNow(lastAt !== null);
  if (lastAt === null) return <span>{t("console.schedules.not_yet")}</span>;
  const time = (
    <time dateTime={lastAt} title={fullTimeText(locale, lastAt)}>
      {t("console.schedules.ago", { span: ageText(locale, now - Date.parse(lastAt)) })}
    </time>
  );
  if (lastRun !== null) return <Link href={`/runs/${lastRun}`}>{time}</Link>;
  return lastDelivery === null ? time : <Link href={`/deliveries/${lastDelivery}`}>{time}</Link>;
}
