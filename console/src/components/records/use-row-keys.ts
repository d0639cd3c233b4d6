import { useEffect, type RefObject } from "react";
import { hasModifier, isTyping } from "../../app/keys.ts";

/** j and k go down and up in the rows of a list; Enter opens the row, since its link has the focus. */
export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.isComposing || hasModifier(event) || isTyping(event)) return;
      if (event.key !== "j" && event.key !== "k") return;
      const links = [...(list.current?.querySelectorAll<HTMLElement>("[data-row-link]") ?? [])];
      const row = document.activeElement?.closest("[role=row]");
      const at = links.findIndex((link) => row?.contains(link) ?? false);
      const next = links[at === -1 ? 0 : at + (event.key === "j" ? 1 : -1)];
      if (!next) return;
      event.preventDefault();
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [list]);
}
