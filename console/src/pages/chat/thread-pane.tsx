import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import type { WireMessage } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { IconButton } from "../../components/icon-button.tsx";
import { placeParts } from "../../data/place.ts";
import { useTimeline } from "../../data/timeline.ts";
import classes from "./chat-page.module.css";
import { Conversation } from "./conversation.tsx";
import header from "../../app/page-header.module.css";
import { MessageBody } from "./message-body.tsx";
import { senderName } from "../../components/names.ts";

interface ThreadPaneProps {
  /** The address of its conversation. */
  root: string;
  address: string;
  onClose: () => void;
}

/** A thread beside its conversation; on a narrow screen in its place. */
export function ThreadPane({ root, address, onClose }: ThreadPaneProps) {
  const t = useTexts();
  const opening = useOpening(root, placeParts(address)?.thread ?? "");
  return (
    <section className={`${classes["pane"]} ${classes["thread"]}`} aria-label={t("console.chat.thread")}>
      <header className={header["header"]}>
        <h2 className={header["title"]}>{t("console.chat.thread")}</h2>
        <div className={header["beside"]} />
        <CopyButton text={address} label={t("console.chat.copy_address")} />
        <IconButton label={t("console.chat.close_thread")} onClick={onClose}>
          <X size={18} />
        </IconButton>
      </header>
      {opening ? (
        <div className={classes["root"]} tabIndex={0} role="region" aria-label={t("console.chat.thread_of")}>
          <p>{opening.role === "user" ? senderName(t, opening.sender) : t("console.chat.answer")}</p>
          <MessageBody message={opening} />
        </div>
      ) : null}
      <Conversation address={address} />
    </section>
  );
}

/** The message that a thread was opened from: a thread of this console has its id. */
function useOpening(root: string, thread: string): WireMessage | undefined {
  const { data } = useTimeline(root);
  const found = data?.messages.find(({ id }) => id === thread);
  // Once found it stays, also when the conversation behind it goes.
  return (
    useQuery({
      queryKey: ["thread-opening", root, thread],
      queryFn: () => found ?? null,
      enabled: found !== undefined,
    }).data ?? found
  );
}
