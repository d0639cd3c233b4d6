import { memo } from "react";
import { Link } from "wouter";
import type { WireDelivery } from "../../../../src/http/api.ts";
import { useLanguage, useTexts } from "../../app/language.tsx";
import { RetryDelivery } from "./actions.tsx";
import { PlaceLink } from "./place-link.tsx";
import { shortId } from "./short-id.tsx";
import row from "./row.module.css";
import { DeliveryBadge } from "./state-badge.tsx";
import { Cell, Row, Table } from "./table.tsx";
import { kindOf, ruleKey } from "./delivery-names.ts";
import { Age, spanText, useNow } from "./time.tsx";

/** Deliveries in rows: what it is, where it goes and by which rule, how often it was tried, and why it is not there. */
export function DeliveryTable(props: { deliveries: readonly WireDelivery[]; label: string }) {
  const t = useTexts();
  const columns = [
    t("console.runs.column_state"),
    t("console.deliveries.column_post"),
    t("console.runs.column_place"),
    t("console.deliveries.column_rule"),
    t("console.runs.column_age"),
    t("console.runs.column_actions"),
  ];
  return (
    <Table label={props.label} columns={columns} kind="deliveries">
      {props.deliveries.map((delivery) => (
        <DeliveryRow key={delivery.id} delivery={delivery} />
      ))}
    </Table>
  );
}

const DeliveryRow = memo(
  function DeliveryRow({ delivery }: { delivery: WireDelivery }) {
    const t = useTexts();
    const isThere = delivery.state === "delivered";
    return (
      <Row>
        <Cell name="state">
          <DeliveryBadge state={delivery.state} />
        </Cell>
        <Cell name="main">
          <Link href={`/deliveries/${delivery.id}`} className={row["link"]} data-row-link>
            <strong>{t(`console.deliveries.kind.${kindOf(delivery.kind)}`)}</strong>
            <span dir="auto">{delivery.text ?? shortId(delivery.id)}</span>
          </Link>
          <div className={row["below"]}>
            {delivery.attempts > 0 ? (
              <span>{t("console.deliveries.attempt_count", { count: delivery.attempts })}</span>
            ) : null}
            {isThere || delivery.nextAt === null ? null : <NextAttempt at={delivery.nextAt} />}
            {isThere || delivery.reason === null ? null : (
              <span className={row["reason"]} dir="auto">
                {delivery.reason}
              </span>
            )}
          </div>
        </Cell>
        <Cell name="place">
          <PlaceLink address={delivery.address} />
        </Cell>
        <Cell name="rule">{t(`console.deliveries.rule.${ruleKey(delivery.rule)}`)}</Cell>
        <Cell name="age">
          <Age at={delivery.createdAt} />
        </Cell>
        <Cell name="actions">
          <RetryDelivery delivery={delivery} />
        </Cell>
      </Row>
    );
  },
  (before, after) => JSON.stringify(before.delivery) === JSON.stringify(after.delivery),
);

/** When it is tried again; nothing once that moment is past, since it is being tried. */
export function NextAttempt({ at }: { at: string }) {
  const { t, locale } = useLanguage();
  const left = Date.parse(at) - useNow();
  if (left <= 0) return null;
  return <span>{t("console.deliveries.next", { span: spanText(locale, left) })}</span>;
}
