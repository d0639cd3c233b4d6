import type { ReactNode } from "react";
import { Link } from "wouter";
import type { WireDelivery } from "../../../../src/http/api.ts";
import { useLanguage, useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { SafeLink } from "../../components/safe-link.tsx";
import { ErrorState, LoadingLines } from "../../components/states.tsx";
import { useDelivery } from "../../data/deliveries.ts";
import { useStory } from "../../data/story.ts";
import { RetryDelivery } from "../../components/records/actions.tsx";
import { Crumb } from "../../components/records/crumb.tsx";
import { PlaceLink } from "../../components/records/place-link.tsx";
import { Fact, Facts } from "../../components/records/facts.tsx";
import facts from "../../components/records/facts.module.css";
import page from "../../components/records/record.module.css";
import { CopyId, IdLink } from "../../components/records/short-id.tsx";
import { DeliveryBadge, toneOfDelivery } from "../../components/records/state-badge.tsx";
import { kindOf } from "../../components/records/delivery-names.ts";
import { Clock, spanText } from "../../components/records/time.tsx";
import { WhyHere } from "../../components/records/why-here.tsx";
import classes from "./delivery-page.module.css";
import { NextAttempt } from "../../components/records/delivery-row.tsx";

/** A delivery: where it goes and why, what was sent for it, and what proves that it is there. */
export function DeliveryPage({ id }: { id: string }) {
  const t = useTexts();
  const { data: delivery, isError, error, refetch } = useDelivery(id);
  if (!delivery) {
    return (
      <>
        <PageHeader title={t("console.deliveries.delivery")} />
        {isError ? <ErrorState error={error} retry={() => void refetch()} /> : <LoadingLines />}
      </>
    );
  }
  return (
    <>
      <PageHeader
        title={
          <Crumb href="/deliveries" list={t("console.page.deliveries")}>
            {t(`console.deliveries.kind.${kindOf(delivery.kind)}`)}
          </Crumb>
        }
        beside={<DeliveryBadge state={delivery.state} />}
      >
        <RetryDelivery delivery={delivery} />
      </PageHeader>
      <div className={page["page"]}>
        <div className={page["main"]}>
          <Outcome delivery={delivery} />
          <Section title={t("console.story.why_here")}>
            <WhyHere delivery={delivery} />
          </Section>
          <Words delivery={delivery} />
          <Section title={t("console.deliveries.ops")}>
            <Ops delivery={delivery} />
          </Section>
          <Section title={t("console.deliveries.receipts")}>
            <Receipts delivery={delivery} />
          </Section>
        </div>
        <Aside delivery={delivery} />
      </div>
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={page["section"]}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** What became of it, in a sentence, and the reason that the platform or the outbox gave. */
function Outcome({ delivery }: { delivery: WireDelivery }) {
  const { t, locale } = useLanguage();
  const { state, settledAt, createdAt, reason, nextAt } = delivery;
  const span = settledAt === null ? 0 : Date.parse(settledAt) - Date.parse(createdAt);
  return (
    <div className={page["now"]} data-tone={toneOfDelivery(state)} role="status">
      <p>{t(`console.deliveries.now.${state}`, { span: spanText(locale, span) })}</p>
      {reason === null || state === "delivered" ? null : (
        <p className={page["detail"]}>
          <code dir="auto">{reason}</code>
        </p>
      )}
      {nextAt === null || state === "delivered" ? null : <NextAttempt at={nextAt} />}
    </div>
  );
}

/** What it says. It is in the story, which is read after the delivery itself. */
function Words({ delivery }: { delivery: WireDelivery }) {
  const t = useTexts();
  const { data: story } = useStory(delivery.id);
  const message = story?.messages.find(({ id }) => id === delivery.message);
  if (!message) return null;
  return (
    <Section title={t("console.deliveries.words")}>
      <div className={classes["words"]}>
        <Markdown text={message.text} />
      </div>
    </Section>
  );
}

function Ops({ delivery }: { delivery: WireDelivery }) {
  const t = useTexts();
  if (delivery.ops.length === 0) return <p className={classes["none"]}>{t("console.deliveries.no_ops")}</p>;
  return (
    <ol className={classes["ops"]}>
      {delivery.ops.map((op) => (
        <li key={op.id} data-state={op.state}>
          <p className={classes["line"]}>
            <strong>{opName(t, op.kind)}</strong>
            {delivery.ops.some(({ part }) => part > 0) ? (
              <span>{t("console.deliveries.part", { part: op.part + 1 })}</span>
            ) : null}
            <span>{opState(t, op.state)}</span>
            <span>{t("console.deliveries.attempt_count", { count: op.attempts })}</span>
            {op.nextAt !== null && op.state === "pending" ? <NextAttempt at={op.nextAt} /> : null}
            <Clock at={op.createdAt} />
          </p>
          {op.error === null ? null : (
            <p className={classes["error"]} dir="auto">
              {op.error}
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

function opName(t: ReturnType<typeof useTexts>, kind: string): string {
  return kind === "edit" || kind === "delete"
    ? t(`console.deliveries.op.${kind}`)
    : t("console.deliveries.op.create");
}

/** A state of an op in words; one that this page does not know stands as it is. */
function opState(t: ReturnType<typeof useTexts>, state: string): string {
  switch (state) {
    case "done":
      return t("console.deliveries.op_done");
    case "pending":
    case "sending":
    case "unknown":
    case "blocked":
    case "dead":
      return t(`console.deliveries.state.${state}`);
    default:
      return state;
  }
}

function Receipts({ delivery }: { delivery: WireDelivery }) {
  const t = useTexts();
  if (delivery.receipts.length === 0) {
    return <p className={classes["none"]}>{t("console.deliveries.no_receipts")}</p>;
  }
  return (
    <ol className={classes["ops"]}>
      {delivery.receipts.map((receipt) => (
        <li key={receipt.part}>
          <p className={classes["line"]}>
            <PlaceLink address={receipt.address} />
            <Clock at={receipt.at} />
            {receipt.permalink === null ? null : (
              <SafeLink href={receipt.permalink}>{t("console.deliveries.permalink")}</SafeLink>
            )}
          </p>
          <CopyId id={receipt.platformId} name={t("console.deliveries.platform_id")} />
        </li>
      ))}
    </ol>
  );
}

function Aside({ delivery }: { delivery: WireDelivery }) {
  const t = useTexts();
  const { run, turn, message, schedule } = delivery;
  const ids = [
    { name: t("console.facts.id_delivery"), id: delivery.id },
    { name: t("console.facts.id_message"), id: message },
    { name: t("console.facts.id_turn"), id: turn },
    { name: t("console.facts.id_address"), id: delivery.address },
  ];
  return (
    <aside className={facts["facts"]} aria-label={t("console.facts.title")}>
      <Facts title={t("console.facts.related")}>
        <Fact name={t("console.runs.run")}>
          {run === null ? t("console.facts.none") : <IdLink id={run} href={`/runs/${run}`} />}
        </Fact>
        {schedule === null ? null : (
          <Fact name={t("console.schedules.column_schedule")}>
            <Link href="/schedules">{schedule}</Link>
          </Fact>
        )}
        <Fact name={t("console.runs.column_place")}>
          <PlaceLink address={delivery.address} />
        </Fact>
        <Fact name={t("console.facts.attempts")}>{delivery.attempts}</Fact>
        <Fact name={t("console.facts.recorded")}>
          <Clock at={delivery.createdAt} />
        </Fact>
        {delivery.settledAt === null ? null : (
          <Fact name={t("console.facts.settled")}>
            <Clock at={delivery.settledAt} />
          </Fact>
        )}
      </Facts>
      <section>
        <h2>{t("console.facts.ids")}</h2>
        <dl>
          {ids.map(({ name, id }) =>
            id === null || id === "" ? null : (
              <div key={name} className={facts["id"]}>
                <dt>{name}</dt>
                <dd>
                  <CopyId id={id} name={name} />
                </dd>
              </div>
            ),
          )}
        </dl>
      </section>
    </aside>
  );
}
