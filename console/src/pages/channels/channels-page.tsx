import { RadioTower } from "lucide-react";
import type { WireChannel } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import list from "../../components/records/list.module.css";
import row from "../../components/records/row.module.css";
import { ChannelBadge } from "../../components/records/state-badge.tsx";
import { Cell, Row, Table } from "../../components/records/table.tsx";
import { EmptyState, ErrorState, LoadingLines } from "../../components/states.tsx";
import { useChannels } from "../../data/channels.ts";
import { DenialList } from "./denial-list.tsx";

/** `/access` (what is below `/channels` is the channels' own): how the channels of this node stand, and who was turned away at them. */
export function ChannelsPage() {
  const t = useTexts();
  return (
    <>
      <PageHeader title={t("console.page.channels")} />
      <div className={list["scroll"]}>
        <section>
          <h2 className={list["title"]}>{t("console.channels.states")}</h2>
          <States />
        </section>
        <section>
          <h2 className={list["title"]}>{t("console.channels.denials")}</h2>
          <p className={list["about"]}>{t("console.channels.denials_about")}</p>
          <DenialList />
        </section>
      </div>
    </>
  );
}

function States() {
  const t = useTexts();
  const { data: channels, isError, error, refetch } = useChannels();
  if (!channels) {
    return isError ? <ErrorState error={error} retry={() => void refetch()} /> : <LoadingLines lines={3} />;
  }
  if (channels.length === 0) return <EmptyState icon={RadioTower} title={t("console.channels.none")} />;
  const columns = [t("console.runs.column_state"), t("console.channels.column_channel")];
  return (
    <Table label={t("console.channels.states")} columns={columns} kind="channels">
      {channels.map((channel) => (
        <ChannelRow key={`${channel.kind}:${channel.account}`} channel={channel} />
      ))}
    </Table>
  );
}

function ChannelRow({ channel: { kind, account, state, reason } }: { channel: WireChannel }) {
  return (
    <Row>
      <Cell name="state">
        <ChannelBadge state={state} />
      </Cell>
      <Cell name="main">
        <div className={row["words"]}>
          <strong>{kind}</strong>
          <span>{account}</span>
        </div>
        {reason === null ? null : (
          <div className={row["below"]} dir="auto">
            {reason}
          </div>
        )}
      </Cell>
    </Row>
  );
}
