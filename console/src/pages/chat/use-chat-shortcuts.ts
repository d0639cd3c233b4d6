import { useEffect } from "react";
import { useLocation } from "wouter";
import { hasModifier, isTyping } from "../../app/keys.ts";
import { useConversations } from "../../data/conversations.ts";
import { hrefOf, inThread } from "../../data/place.ts";
import { useMarks } from "../../data/unread.ts";
import { groupConversations, inOrder } from "./groups.ts";

/** Alt+arrows through the conversations (with Shift: those with something unread), `n`, `i` and Escape. */
export function useChatShortcuts(
  address: string | null,
  thread: string | null,
  closeThread: () => void,
): void {
  const [, navigate] = useLocation();
  const { data } = useConversations();
  const read = useMarks();
  useEffect(() => {
    const active = address !== null && thread !== null ? inThread(address, thread) : address;
    const step = (by: 1 | -1, unreadOnly: boolean): void => {
      const places = inOrder(groupConversations(data?.items ?? [], { wish: "", active, read }));
      const at = places.findIndex((place) => place.address === active);
      for (let n = 1; n <= places.length; n += 1) {
        const place = places[(at + by * n + places.length * 2) % places.length];
        if (place && (!unreadOnly || place.unread > 0)) return navigate(hrefOf(place.address));
      }
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.isComposing || event.defaultPrevented) return;
      if (event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
        event.preventDefault();
        step(event.key === "ArrowDown" ? 1 : -1, event.shiftKey);
      } else if (event.key === "Escape" && thread !== null && !document.querySelector("[role=dialog]"))
        closeThread();
      else if (!hasModifier(event) && !isTyping(event)) {
        if (event.key === "n") navigate("/chat/new");
        else if (event.key === "i") focusComposer();
        else return;
        event.preventDefault();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [address, thread, closeThread, data, read, navigate]);
}

/** The composer of the thread, if one is open, else of the conversation. */
function focusComposer(): void {
  Array.from(document.querySelectorAll<HTMLTextAreaElement>("textarea[data-composer]")).at(-1)?.focus();
}
