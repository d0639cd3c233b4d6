import type { WireDelivery } from "../../../../src/http/api.ts";
import { useLanguage } from "../../app/language.tsx";
import { ruleKey } from "./delivery-names.ts";
import { PlaceLink } from "./place-link.tsx";
import { reasonOf } from "./reasons.ts";
import classes from "./why-here.module.css";

/** Why a post went where it went: the rule in a sentence, and what was looked at before and refused. */
export function WhyHere({ delivery }: { delivery: WireDelivery }) {
  const { t, locale } = useLanguage();
  const { rule, rejected, run, address } = delivery;
  const key = ruleKey(rule);
  const sentence =
    key === "explicit"
      ? t(run === null ? "console.why.operator" : "console.why.agent")
      : t(`console.why.${key}`);
  return (
    <div className={classes["why"]}>
      <p>
        <PlaceLink address={address} /> <span>{address === "" ? t("console.why.no_place") : sentence}</span>
      </p>
      <p className={classes["rule"]}>
        {t("console.why.rule")} <code>{rule}</code>
      </p>
      {rejected.length > 0 ? (
        <ul aria-label={t("console.why.rejected")}>
          {rejected.map((one, index) => (
            <li key={index}>
              {t("console.why.refused", { address: one.address, rule: one.rule })}{" "}
              <span>{reasonOf(locale, one.reason)}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
