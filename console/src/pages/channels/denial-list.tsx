import { ShieldCheck } from "lucide-react";
import type { WireDenial } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { PlaceLink } from "../../components/records/place-link.tsx";
import { RecordList } from "../../components/records/record-list.tsx";
import row from "../../components/records/row.module.css";
import { CopyId } from "../../components/records/short-id.tsx";
import { Cell, Row, Table } from "../../components/records/table.tsx";
import { Age } from "../../components/records/time.tsx";
import { EmptyState } from "../../components/states.tsx";
import { keyOfDenial, useDenials } from "../../data/channels.ts";

/** Who was turned away, where and why, with the id that an allowlist takes. */
export function DenialList() {
  const t = useTexts();
  const columns = [
    t("console.channels.column_sender"),
    t("console.runs.column_place"),
    t("console.channels.column_times"),
    t("console.channels.column_last"),
  ];
  return (
    <RecordList
      pages={useDenials()}
      empty={<EmptyState icon={ShieldCheck} title={t("console.channels.no_denials")} />}
      shown={(count) => t("console.channels.shown", { count })}
    >
      {(denials) => (
        <Table label={t("console.channels.denials")} columns={columns} kind="denials">
          {denials.map((one) => (
            <Denial key={keyOfDenial(one)} denial={one} />
          ))}
        </Table>
      )}
    </RecordList>
  );
}

function Denial({ denial }: { denial: WireDenial }) {
  const t = useTexts();
  const { address, sender, name, reason, times, lastAt } = denial;
  return (
    <Row>
      <Cell name="main">
        {name === null ? null : (
          <div className={row["words"]}>
            <strong dir="auto">{name}</strong>
            <CopyButton
              text={name}
              label={t("console.runs.copy_id", { name: t("console.channels.sender_name", { name }) })}
            />
          </div>
        )}
        <CopyId id={sender} name={t("console.channels.sender_id", { name: name ?? sender })} />
        <div className={row["below"]} dir="auto">
          {reason}
        </div>
      </Cell>
      <Cell name="place">
        <PlaceLink address={address} />
      </Cell>
      <Cell name="times">{t("console.channels.times", { count: times })}</Cell>
      <Cell name="age">
        <Age at={lastAt} />
      </Cell>
    </Row>
  );
}
