import { CornerDownRight, MessageSquareReply, Waypoints } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import type { WireMessage } from "../../../../src/http/api.ts";
import { useLanguage } from "../../app/language.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { IconButton } from "../../components/icon-button.tsx";
import { useConversations } from "../../data/conversations.ts";
import { inThread, rootOf } from "../../data/place.ts";
import { fullTimeText, timeText } from "../../data/time.ts";
import { MessageBody } from "./message-body.tsx";
import classes from "./message-row.module.css";
import { senderName } from "../../components/names.ts";
import { Unanswered } from "./unanswered.tsx";
import { useAgentName } from "../../components/use-agent-name.ts";

interface MessageRowProps {
  message: WireMessage;
  /** False: it stands under the name of the message before. */
  first: boolean;
  onThread: ((thread: string) => void) | undefined;
}

/** A committed message: who, when, what; which run it came from; and what can be done with it. */
export const MessageRow = memo(function MessageRow({ message, first, onThread }: MessageRowProps) {
  const { t, locale } = useLanguage();
  const isAgent = message.role === "assistant";
  const agent = useAgentName(isAgent ? message.run : null);
  const name = isAgent ? (agent ?? (message.run === null ? "Waybill" : "…")) : senderName(t, message.sender);
  const time = (
    <time dateTime={message.at} title={fullTimeText(locale, message.at)}>
      {timeText(locale, message.at)}
    </time>
  );
  return (
    <article
      className={classes["row"]}
      data-first={first}
      aria-label={t("console.chat.message_by", { name, time: timeText(locale, message.at) })}
    >
      <div className={classes["gutter"]}>{first ? <Avatar name={name} agent={isAgent} /> : time}</div>
      <div className={classes["content"]}>
        {first ? (
          <div className={classes["head"]}>
            <strong dir="auto">{name}</strong>
            {time}
            {isAgent && message.run ? <RunLink run={message.run} /> : null}
          </div>
        ) : null}
        <MessageBody message={message} />
        <Unanswered message={message} />
        {onThread ? <Replies message={message} onThread={onThread} /> : null}
      </div>
      <Actions message={message} onThread={onThread} />
    </article>
  );
});

/** The way from an answer to its run. */
export function RunLink({ run }: { run: string }) {
  const { t } = useLanguage();
  const short = run.slice(-6);
  return (
    <Link href={`/runs/${run}`} className={classes["run"]} title={run}>
      <Waypoints size={13} aria-hidden />
      <span className="visually-hidden">{t("console.chat.open_run", { run: short })}</span>
      <span aria-hidden>{short}</span>
    </Link>
  );
}

function Actions({ message, onThread }: Pick<MessageRowProps, "message" | "onThread">) {
  const { t } = useLanguage();
  return (
    <div className={classes["actions"]}>
      {onThread ? (
        <IconButton label={t("console.chat.reply_in_thread")} onClick={() => onThread(message.id)}>
          <MessageSquareReply size={16} />
        </IconButton>
      ) : null}
      <CopyButton text={message.text} label={t("console.chat.copy_message")} />
      {message.run ? (
        <Link
          href={`/runs/${message.run}`}
          className={classes["action-link"]}
          aria-label={t("console.chat.open_run", { run: message.run })}
          title={t("console.chat.open_run", { run: message.run })}
        >
          <Waypoints size={16} aria-hidden />
        </Link>
      ) : null}
    </div>
  );
}

/** The thread that was opened from this message, if there is one. */
function Replies({ message, onThread }: { message: WireMessage; onThread: (thread: string) => void }) {
  const { t } = useLanguage();
  const address = inThread(rootOf(message.address), message.id);
  const { data: count } = useConversations(
    (list) => list.items.find((one) => one.address === address)?.lastPostSeq ?? 0,
  );
  if (!count) return null;
  return (
    <button type="button" className={classes["replies"]} onClick={() => onThread(message.id)}>
      <CornerDownRight size={14} aria-hidden />
      {t("console.chat.replies", { count })}
    </button>
  );
}
