import { Modal } from "@mantine/core";
import { Hash, MessageSquare, MessagesSquare, Plus, type LucideIcon } from "lucide-react";
import { useId, useMemo, useState, type KeyboardEvent } from "react";
import { useLocation } from "wouter";
import type { WireConversation } from "../../../src/http/api.ts";
import { useConversations } from "../data/conversations.ts";
import { hrefOf } from "../data/place.ts";
import { nameOf } from "../components/names.ts";
import { pastedChoices } from "../components/records/pasted-choice.ts";
import { useTexts, type Translate } from "./language.tsx";
import classes from "./palette.module.css";
import { pages } from "./pages.ts";

interface Choice {
  id: string;
  text: string;
  hint: string;
  icon: LucideIcon;
  href: string;
}

const shownMost = 12;

function choicesOf(t: Translate, conversations: readonly WireConversation[]): Choice[] {
  return [
    ...pages.map((page) => ({
      id: page.path,
      text: t(page.label),
      hint: t("console.palette.page"),
      icon: page.icon,
      href: page.path,
    })),
    { id: "new", text: t("console.chat.new"), hint: "", icon: Plus, href: "/chat/new" },
    ...conversations.map((one) => ({
      id: one.address,
      text: nameOf(one),
      hint: one.address,
      icon: one.thread === null ? (one.kind === "dm" ? MessageSquare : Hash) : MessagesSquare,
      href: hrefOf(one.address),
    })),
  ];
}

/** The choices whose text or address has all the words of `wish`; first those that begin with it, the shortest first. */
function filterChoices(choices: readonly Choice[], wish: string): Choice[] {
  const words = wish.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return choices.slice(0, shownMost);
  const rank = (text: string): number => (text.startsWith(words[0] ?? "") ? 0 : 1_000) + text.length;
  return choices
    .filter(({ text, hint }) => words.every((word) => `${text} ${hint}`.toLowerCase().includes(word)))
    .toSorted((a, b) => rank(a.text.toLowerCase()) - rank(b.text.toLowerCase()))
    .slice(0, shownMost);
}

/** Ctrl-K: go anywhere by typing some of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const t = useTexts();
  const [wish, setWish] = useState("");
  const list = useId();
  const { found, index, point, go, onKey } = useChoices(wish, onClose);
  const label = t("console.palette");
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      attributes={{ content: { "aria-label": label } }}
      size="34rem"
      transitionProps={{ duration: 0 }}
    >
      <input
        className={classes["field"]}
        // At once: what is typed right after the shortcut belongs here.
        autoFocus
        data-autofocus
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={found[index] ? `${list}-${index}` : undefined}
        aria-label={label}
        placeholder={t("console.palette.placeholder")}
        value={wish}
        onChange={(event) => {
          setWish(event.currentTarget.value);
          point(0);
        }}
        onKeyDown={onKey}
      />
      <ul id={list} role="listbox" aria-label={label} className={classes["list"]}>
        {found.map((choice, row) => (
          <li
            key={choice.id}
            id={`${list}-${row}`}
            role="option"
            aria-selected={row === index}
            onMouseMove={() => point(row)}
            onClick={() => go(choice)}
          >
            <choice.icon size={16} aria-hidden />
            <span dir="auto">{choice.text}</span>
            <small>{choice.hint}</small>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className={classes["none"]}>{t("console.palette.none")}</p> : null}
    </Modal>
  );
}

/** The choices that fit what is typed, the one that is pointed at, and the keys that move it. */
function useChoices(wish: string, onClose: () => void) {
  const t = useTexts();
  const [, navigate] = useLocation();
  const { data } = useConversations();
  const [at, point] = useState(0);
  const choices = useMemo(() => choicesOf(t, data?.items ?? []), [t, data]);
  const found = useMemo(
    () => [...filterChoices(choices, wish), ...pastedChoices(t, wish)],
    [t, choices, wish],
  );
  const index = Math.min(at, found.length - 1);
  const go = (choice: Choice | undefined): void => {
    if (!choice) return;
    onClose();
    navigate(choice.href);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") go(found[index]);
    else if (event.key === "ArrowDown") point((index + 1) % Math.max(1, found.length));
    else if (event.key === "ArrowUp") point((index - 1 + found.length) % Math.max(1, found.length));
    else return;
    event.preventDefault();
  };
  return { found, index, point, go, onKey };
}
