import { MessagesSquare } from "lucide-react";
import { useEffect, useMemo } from "react";
import { useLocation } from "wouter";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { useSearchState } from "../../app/search-state.ts";
import { EmptyState, LoadingLines } from "../../components/states.tsx";
import { useConversations } from "../../data/conversations.ts";
import { addressOfPath, inThread } from "../../data/place.ts";
import { useMarks } from "../../data/unread.ts";
import classes from "./chat-page.module.css";
import { Conversation } from "./conversation.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import { unreadOf } from "./groups.ts";
import { NewConversation } from "./new-conversation.tsx";
import { ThreadPane } from "./thread-pane.tsx";
import { useChatShortcuts } from "./use-chat-shortcuts.ts";

/** Conversations: `/chat/{address}`, with `?thread=` for the thread that is open beside it, and `/chat/new`. */
export function ChatPage() {
  // The hook that watches the URL; what it says is read undecoded, since ids may hold percent signs.
  useLocation();
  const address = addressOfPath(window.location.pathname);
  const [thread, setThread] = useSearchState("thread");
  useChatShortcuts(address, thread, () => setThread(null));
  useTitle();
  if (window.location.pathname === "/chat/new") return <NewConversation />;
  if (address === null) return <NoConversation />;
  return (
    <div className={classes["panes"]} data-thread={thread !== null}>
      <section className={classes["pane"]}>
        <ConversationHeader address={address} />
        <Conversation key={address} address={address} onThread={(id) => setThread(id, true)} />
      </section>
      {thread === null ? null : (
        <ThreadPane
          key={thread}
          root={address}
          address={inThread(address, thread)}
          onClose={() => setThread(null)}
        />
      )}
    </div>
  );
}

/** The first visit begins with a question; later nothing is chosen until somebody chooses. */
function NoConversation() {
  const t = useTexts();
  const { data, isPending } = useConversations();
  if (isPending) return <LoadingLines />;
  if (data?.items.length === 0) return <NewConversation first />;
  return (
    <>
      <PageHeader title={t("console.page.chat")} />
      <EmptyState icon={MessagesSquare} title={t("console.chat.choose")} />
    </>
  );
}

/** How much is unread stands in the window's title. */
function useTitle(): void {
  const { data } = useConversations();
  const read = useMarks();
  const unread = useMemo(
    () => (data?.items ?? []).reduce((sum, one) => sum + unreadOf(one, read), 0),
    [data, read],
  );
  useEffect(() => {
    document.title = unread > 0 ? `(${unread}) Waybill` : "Waybill";
    return () => {
      document.title = "Waybill";
    };
  }, [unread]);
}
