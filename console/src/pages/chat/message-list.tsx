import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { useLanguage } from "../../app/language.tsx";
import { dayText } from "../../data/time.ts";
import { loadOlder } from "../../data/timeline.ts";
import { LiveRow } from "./live-row.tsx";
import classes from "./message-list.module.css";
import { MessageRow } from "./message-row.tsx";
import { OutgoingRow } from "./outgoing-row.tsx";
import type { Row } from "./rows.ts";

interface MessageListProps {
  address: string;
  rows: readonly Row[];
  /** True: there is nothing before the first row. */
  complete: boolean;
  onThread: ((thread: string) => void) | undefined;
}

/** So near to the start, older messages are asked for. Pixels. */
const earlyPx = 1_200;
/** So near to its end, a list is meant to stay there. Pixels. */
const nearPx = 48;

/**
 * The rows of a place; only those that are in view are in the document. It begins at the newest, stays there while
 * new text arrives, and keeps what one reads in its place when older messages come in front.
 */
export function MessageList({ address, rows, complete, onThread }: MessageListProps) {
  const { t } = useLanguage();
  const scroller = useRef<HTMLDivElement>(null);
  const handle = useRef<VirtualizerHandle>(null);
  const { shift, askOlder } = useOlder(address, rows, complete);
  const { away, toEnd, onScroll } = useStickToEnd(scroller, handle, rows.length);
  const scrolled = (): void => {
    onScroll();
    if ((scroller.current?.scrollTop ?? earlyPx) < earlyPx) askOlder();
  };
  return (
    <div className={classes["frame"]}>
      <div
        ref={scroller}
        className={classes["scroller"]}
        onScroll={scrolled}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t("console.chat.messages")}
      >
        <div className={classes["push"]} />
        <Virtualizer ref={handle} scrollRef={scroller} data={rows} shift={shift} bufferSize={400}>
          {(row) => <RowOf key={row.key} row={row} onThread={onThread} />}
        </Virtualizer>
        <div className={classes["foot"]} />
      </div>
      {away ? (
        <button type="button" className={classes["to-end"]} onClick={toEnd}>
          <ArrowDown size={15} aria-hidden />
          {t("console.chat.to_end")}
        </button>
      ) : null}
    </div>
  );
}

function RowOf({ row, onThread }: { row: Row; onThread: MessageListProps["onThread"] }) {
  const { t, locale } = useLanguage();
  switch (row.kind) {
    case "day":
      return (
        <div className={classes["day"]} role="separator">
          <span>{dayText(locale, row.at)}</span>
        </div>
      );
    case "unread":
      return (
        <div className={classes["day"]} data-unread="true" role="separator">
          <span>{t("console.chat.unread_below")}</span>
        </div>
      );
    case "message":
      return <MessageRow message={row.message} first={row.first} onThread={onThread} />;
    case "live":
      return <LiveRow run={row.run} said={row.said} />;
    case "outgoing":
      return <OutgoingRow outgoing={row.outgoing} />;
  }
}

/** Asks for older messages, one page at a time. `shift` is true for the very render in which they come in front. */
function useOlder(address: string, rows: readonly Row[], complete: boolean) {
  const loading = useRef(false);
  const first = useRef<string | undefined>(undefined);
  const oldest = rows.find(({ kind }) => kind === "message")?.key;
  const shift = first.current !== undefined && first.current !== oldest;
  useLayoutEffect(() => {
    first.current = oldest;
  }, [oldest]);
  const askOlder = useCallback(() => {
    if (loading.current || complete) return;
    loading.current = true;
    void loadOlder(address)
      .catch(() => {})
      .finally(() => {
        loading.current = false;
      });
  }, [address, complete]);
  return { shift, askOlder };
}

/** Holds the list at its end until somebody scrolls up, and again when they come back. */
function useStickToEnd(
  scroller: React.RefObject<HTMLDivElement | null>,
  handle: React.RefObject<VirtualizerHandle | null>,
  count: number,
) {
  const stuck = useRef(true);
  const before = useRef(0);
  const [away, setAway] = useState(false);
  const toEnd = useCallback(() => {
    stuck.current = true;
    setAway(false);
    handle.current?.scrollToIndex(count - 1, { align: "end" });
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [count, handle, scroller]);
  useLayoutEffect(() => {
    if (stuck.current) toEnd();
  }, [toEnd]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      if (stuck.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, [scroller]);
  const onScroll = (): void => {
    const element = scroller.current;
    if (!element) return;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    // Only a way upwards is somebody's wish; that the list grew below them is not.
    if (left < nearPx) stuck.current = true;
    else if (element.scrollTop < before.current - 2) stuck.current = false;
    before.current = element.scrollTop;
    setAway(!stuck.current && left > element.clientHeight / 2);
  };
  return { away, toEnd, onScroll };
}
