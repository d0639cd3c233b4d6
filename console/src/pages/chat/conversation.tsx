import { MessageCircle } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useTexts } from "../../app/language.tsx";
import { announce } from "../../components/live-region.tsx";
import { EmptyState, ErrorState, LoadingLines } from "../../components/states.tsx";
import { useOutgoing } from "../../data/outgoing.ts";
import { placeParts } from "../../data/place.ts";
import { useLiveRuns } from "../../data/runs.ts";
import { useTimeline, type Timeline } from "../../data/timeline.ts";
import { markRead, useMarks } from "../../data/unread.ts";
import { Composer } from "./composer.tsx";
import classes from "./conversation.module.css";
import { MessageList } from "./message-list.tsx";
import { buildRows } from "./rows.ts";

interface ConversationProps {
  address: string;
  /** Opens a thread of it; not given inside of a thread. */
  onThread?: (thread: string) => void;
}

/** What was said at one place, what is being answered there, and where one writes. */
export function Conversation({ address, onThread }: ConversationProps) {
  const t = useTexts();
  const timeline = useTimeline(address);
  const { data: runs } = useLiveRuns(address);
  const all = useOutgoing();
  const outgoing = useMemo(() => all.filter((one) => one.address === address), [all, address]);
  const messages = timeline.data?.messages;
  const readTo = useReadMark(address, messages);
  const rows = useMemo(
    () => (messages ? buildRows({ messages, runs: runs ?? [], outgoing, readTo }) : []),
    [messages, runs, outgoing, readTo],
  );
  useSpokenAnswers(messages);
  const channel = placeParts(address)?.channel;
  return (
    <div className={classes["conversation"]}>
      {timeline.isPending ? <LoadingLines lines={8} /> : null}
      {timeline.isError ? <ErrorState error={timeline.error} retry={() => void timeline.refetch()} /> : null}
      {timeline.data && rows.length === 0 ? (
        <EmptyState icon={MessageCircle} title={t("console.chat.empty")} />
      ) : null}
      {timeline.data && rows.length > 0 ? (
        <MessageList address={address} rows={rows} complete={timeline.data.complete} onThread={onThread} />
      ) : null}
      {channel === "web" ? (
        <Composer key={address} address={address} runs={runs ?? []} />
      ) : (
        <p className={classes["elsewhere"]}>{t("console.chat.elsewhere", { channel: channel ?? "?" })}</p>
      )}
    </div>
  );
}

/** Marks as read what is shown while the window is looked at. @returns where reading had stopped when it was opened */
function useReadMark(address: string, messages: Timeline["messages"] | undefined): number | null {
  const marks = useMarks();
  const [opened] = useState(() => marks[address] ?? null);
  const last = messages?.at(-1)?.postSeq ?? 0;
  useEffect(() => {
    const mark = (): void => {
      if (document.visibilityState === "visible") markRead(address, last);
    };
    mark();
    document.addEventListener("visibilitychange", mark);
    return () => document.removeEventListener("visibilitychange", mark);
  }, [address, last]);
  return opened;
}

/** Answers that arrive while one listens are read out, their beginning at least. */
function useSpokenAnswers(messages: Timeline["messages"] | undefined): void {
  const t = useTexts();
  const heard = useRef<number | null>(null);
  useEffect(() => {
    const last = messages?.at(-1);
    if (!messages) return;
    const news =
      heard.current === null ? [] : messages.slice(-5).filter((one) => one.postSeq > heard.current!);
    heard.current = last?.postSeq ?? 0;
    for (const { role, text } of news) {
      if (role === "assistant") announce(t("console.chat.heard", { text: text.slice(0, 300) }));
    }
  }, [messages, t]);
}
