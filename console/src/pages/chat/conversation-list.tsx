import { useQuery } from "@tanstack/react-query";
import { AtSign, CornerDownRight, Hash, Plus, Search } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import type { Page, WireConversation, WireMessage } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { ErrorState, LoadingLines } from "../../components/states.tsx";
import { get } from "../../data/api.ts";
import { useConversations } from "../../data/conversations.ts";
import { addressOfPath, hrefOf, inThread } from "../../data/place.ts";
import { beginMarks, useMarks } from "../../data/unread.ts";
import classes from "./conversation-list.module.css";
import { groupConversations, type Listed } from "./groups.ts";
import { markOf, nameOf } from "../../components/names.ts";

/** Channels and direct messages with their threads; what is unread is bold and counted. */
export function ConversationList() {
  const t = useTexts();
  const { data, isPending, error, refetch } = useConversations();
  const [wish, setWish] = useState("");
  const read = useMarks();
  const active = useActive();
  useEffect(() => {
    if (data) beginMarks(data.items);
  }, [data]);
  const groups = useMemo(
    () => groupConversations(data?.items ?? [], { wish, active, read }),
    [data, wish, active, read],
  );
  const none = data !== undefined && groups.channels.length + groups.direct.length === 0;
  return (
    <>
      <div className={classes["head"]}>
        <h2>{t("console.page.chat")}</h2>
        <Link
          href="/chat/new"
          className={classes["new"]}
          aria-label={t("console.chat.new")}
          title={t("console.chat.new")}
        >
          <Plus size={18} aria-hidden />
        </Link>
      </div>
      <label className={classes["search"]}>
        <Search size={15} aria-hidden />
        <input
          type="search"
          value={wish}
          placeholder={t("console.chat.search")}
          aria-label={t("console.chat.search")}
          onChange={(event) => setWish(event.currentTarget.value)}
        />
      </label>
      <nav className={classes["list"]} aria-label={t("console.chat.conversations")}>
        {isPending ? <LoadingLines lines={6} /> : null}
        {error && !data ? <ErrorState error={error} retry={() => void refetch()} /> : null}
        <Group title={t("console.chat.channels")} items={groups.channels} active={active} />
        <Group title={t("console.chat.direct")} items={groups.direct} active={active} />
        {none ? (
          <p className={classes["none"]}>
            {t(wish === "" ? "console.chat.none" : "console.chat.none_found")}
          </p>
        ) : null}
        {data?.more ? (
          <p className={classes["none"]}>{t("console.chat.latest_only", { count: data.items.length })}</p>
        ) : null}
      </nav>
    </>
  );
}

/** The address that is open, with its thread. */
function useActive(): string | null {
  useLocation();
  const thread = new URLSearchParams(useSearch()).get("thread");
  const address = addressOfPath(window.location.pathname);
  return address !== null && thread !== null ? inThread(address, thread) : address;
}

function Group({ title, items, active }: { title: string; items: readonly Listed[]; active: string | null }) {
  if (items.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {items.map(({ conversation, unread, threads }) => (
          <li key={conversation.address}>
            <Item conversation={conversation} unread={unread} active={active} />
            {threads.length === 0 ? null : (
              <ul>
                {threads.map((thread) => (
                  <li key={thread.conversation.address}>
                    <Item {...thread} active={active} />
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Item(props: { conversation: WireConversation; unread: number; active: string | null }) {
  const { conversation, unread, active } = props;
  const t = useTexts();
  const isThread = conversation.thread !== null;
  const Icon = isThread ? CornerDownRight : markOf(conversation) === "#" ? Hash : AtSign;
  return (
    <Link
      href={hrefOf(conversation.address)}
      className={classes["item"]}
      data-unread={unread > 0}
      data-thread={isThread}
      aria-current={conversation.address === active ? "page" : undefined}
    >
      <Icon size={15} strokeWidth={1.9} aria-hidden />
      <span className={classes["name"]} dir="auto">
        {isThread ? <ThreadName conversation={conversation} /> : nameOf(conversation)}
      </span>
      {conversation.channel === "web" ? null : <small>{conversation.channel}</small>}
      {unread > 0 ? (
        <span className={classes["count"]} aria-label={t("console.chat.unread", { count: unread })}>
          {unread > 99 ? "99+" : unread}
        </span>
      ) : null}
    </Link>
  );
}

/** A thread has no name; it is known by what was said in it first. */
function ThreadName({ conversation }: { conversation: WireConversation }) {
  const t = useTexts();
  const { address, title } = conversation;
  const { data } = useQuery({
    queryKey: ["thread-name", address],
    queryFn: async ({ signal }) => {
      const page = await get<Page<WireMessage>>("/v1/messages", { address, limit: 1 }, signal);
      return page.items[0]?.text.slice(0, 80) ?? null;
    },
    enabled: title === null,
    gcTime: Infinity,
  });
  return title ?? data ?? t("console.chat.thread");
}
