import { ShieldCheck } from "lucide-react";
import { Link } from "wouter";
import type { WireRefusal } from "../../../../src/http/api.ts";
import { useLanguage, useTexts } from "../../app/language.tsx";
import { ruleKey } from "../../components/records/delivery-names.ts";
import { reasonOf } from "../../components/records/reasons.ts";
import { RecordList } from "../../components/records/record-list.tsx";
import row from "../../components/records/row.module.css";
import { Cell, Row, Table } from "../../components/records/table.tsx";
import { Age } from "../../components/records/time.tsx";
import { EmptyState } from "../../components/states.tsx";
import { useRefusals } from "../../data/deliveries.ts";

/** Sends that the rules of addresses refused: they are no deliveries, and nothing was posted. */
export function RefusalList() {
  const t = useTexts();
  const columns = [
    t("console.refusals.column_wish"),
    t("console.deliveries.column_rule"),
    t("console.runs.column_age"),
  ];
  return (
    <RecordList
      pages={useRefusals()}
      empty={<EmptyState icon={ShieldCheck} title={t("console.refusals.none")} />}
      shown={(count) => t("console.refusals.shown", { count })}
    >
      {(refusals) => (
        <Table label={t("console.refusals.label")} columns={columns} kind="refusals">
          {refusals.map((one) => (
            <Refusal key={`${one.run} ${one.seq}`} refusal={one} />
          ))}
        </Table>
      )}
    </RecordList>
  );
}

function Refusal({ refusal }: { refusal: WireRefusal }) {
  const { t, locale } = useLanguage();
  const { run, agent, address, reason, use, rule, at } = refusal;
  return (
    <Row>
      <Cell name="main">
        <Link href={`/runs/${run}`} className={row["link"]} data-row-link>
          <span dir="auto">{t("console.refusals.wish", { agent, address })}</span>
        </Link>
        <div className={row["below"]}>
          <span className={row["reason"]}>{reasonOf(locale, reason)}</span>
          {use === null ? null : <span>{t("console.step.told_to_use", { address: use })}</span>}
        </div>
      </Cell>
      <Cell name="rule">{t(`console.deliveries.rule.${ruleKey(rule)}`)}</Cell>
      <Cell name="age">
        <Age at={at} />
      </Cell>
    </Row>
  );
}
