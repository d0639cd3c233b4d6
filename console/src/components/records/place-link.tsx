import { Hash, MessageSquare, MessagesSquare } from "lucide-react";
import { Link } from "wouter";
import { useTexts } from "../../app/language.tsx";
import { useConversations } from "../../data/conversations.ts";
import { hrefOf, placeParts } from "../../data/place.ts";
import { nameOf } from "../names.ts";
import classes from "./place-link.module.css";

/** What a place is called: its name where we know it, with its channel where it is not our own. */
export function usePlace(address: string) {
  const { data: known } = useConversations((list) => list.items.find((one) => one.address === address));
  const parts = placeParts(address);
  const plain = parts ? [parts.conversation, parts.thread].filter(Boolean).join(" › ") : address;
  const name = known ? nameOf(known) : plain;
  const kind = (parts?.thread ?? null) === null ? (known?.kind ?? "unknown") : "thread";
  return { name, channel: parts?.channel ?? "", kind };
}

/** A place by its name; `plain` where it stands inside of another link. */
export function Place({ address }: { address: string }) {
  const { name, channel, kind } = usePlace(address);
  const Icon = kind === "thread" ? MessagesSquare : kind === "dm" ? MessageSquare : Hash;
  return (
    <span className={classes["place"]} title={address}>
      <Icon size={13} aria-hidden />
      <bdi>{name}</bdi>
      {channel === "web" ? null : <small>{channel}</small>}
    </span>
  );
}

/** The way to a conversation; of what has no address yet, that it has none. */
export function PlaceLink({ address }: { address: string }) {
  const t = useTexts();
  if (address === "") return <span className={classes["none"]}>{t("console.place.none")}</span>;
  return (
    <Link href={hrefOf(address)} className={classes["link"]}>
      <Place address={address} />
    </Link>
  );
}
