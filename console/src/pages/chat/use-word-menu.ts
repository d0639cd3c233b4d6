import { useId, useState, type KeyboardEvent } from "react";
import { wordsFor } from "./words.ts";

/** What a slash opens: arrows choose, Enter or Tab sends the word, Escape closes. */
export function useWordMenu(text: string, choose: (word: string) => void) {
  const id = useId();
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState<string | null>(null);
  const found = closedFor === text ? [] : wordsFor(text);
  const index = Math.min(at, Math.max(0, found.length - 1));
  const onKey = (event: KeyboardEvent): boolean => {
    const word = found[index]?.word;
    if (word === undefined) return false;
    if (event.key === "ArrowDown") setAt((index + 1) % found.length);
    else if (event.key === "ArrowUp") setAt((index - 1 + found.length) % found.length);
    else if (event.key === "Enter" || event.key === "Tab") choose(word);
    else if (event.key === "Escape") setClosedFor(text);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const open = found.length > 0;
  const aria = open
    ? { "aria-controls": id, "aria-activedescendant": `${id}-${index}`, "aria-autocomplete": "list" as const }
    : {};
  return { id, found, at: index, onKey, aria };
}
