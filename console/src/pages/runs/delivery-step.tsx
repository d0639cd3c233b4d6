import { Link } from "wouter";
import type { WireDelivery } from "../../../../src/http/api.ts";
import { useLanguage } from "../../app/language.tsx";
import { SafeLink, textWithIds } from "../../components/safe-link.tsx";
import { DeliveryBadge } from "../../components/records/state-badge.tsx";
import classes from "./delivery-step.module.css";
import { shortId } from "../../components/records/short-id.tsx";
import { spanText } from "../../components/records/time.tsx";

/** A post in a timeline: what became of it, the receipt that proves it, and the way to its page. */
export function DeliveryStep({ delivery, text }: { delivery: WireDelivery; text: string | undefined }) {
  const { t, locale } = useLanguage();
  const { receipts, reason, settledAt, createdAt } = delivery;
  const took = settledAt === null ? 0 : Date.parse(settledAt) - Date.parse(createdAt);
  return (
    <>
      {text ? (
        <p className={classes["text"]} dir="auto">
          {textWithIds(text)}
        </p>
      ) : null}
      <p className={classes["line"]}>
        <DeliveryBadge state={delivery.state} />
        {took > 0 && delivery.state === "delivered" ? (
          <span>{t("console.deliveries.after", { span: spanText(locale, took) })}</span>
        ) : null}
        {delivery.attempts > 1 ? (
          <span>{t("console.deliveries.attempt_count", { count: delivery.attempts })}</span>
        ) : null}
        <Link href={`/deliveries/${delivery.id}`} title={delivery.id}>
          {t("console.deliveries.open", { id: shortId(delivery.id) })}
        </Link>
        {receipts.map(({ part, permalink }) =>
          permalink === null ? null : (
            <SafeLink key={part} href={permalink}>
              {t("console.deliveries.permalink")}
            </SafeLink>
          ),
        )}
      </p>
      {reason === null || delivery.state === "delivered" ? null : (
        <p className={classes["reason"]} dir="auto">
          {reason}
        </p>
      )}
    </>
  );
}
