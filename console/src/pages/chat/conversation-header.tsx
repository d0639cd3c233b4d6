import { PageHeader } from "../../app/page-header.tsx";
import { useTexts } from "../../app/language.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { useConversations } from "../../data/conversations.ts";
import { placeParts } from "../../data/place.ts";
import { markOf, nameOf } from "../../components/names.ts";

/** Which conversation this is. */
export function ConversationHeader({ address }: { address: string }) {
  const t = useTexts();
  const { data } = useConversations();
  const known = data?.items.find((one) => one.address === address);
  const parts = placeParts(address);
  const name = known ? nameOf(known) : (parts?.conversation ?? address);
  return (
    <PageHeader
      title={known && markOf(known) === "#" ? `#${name}` : name}
      beside={parts && parts.channel !== "web" ? <span>{parts.channel}</span> : null}
    >
      <CopyButton text={address} label={t("console.chat.copy_address")} />
    </PageHeader>
  );
}
