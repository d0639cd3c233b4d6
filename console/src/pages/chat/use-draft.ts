import { useCallback, useState } from "react";

/** What was typed at a place and not sent, kept in this window while one looks elsewhere, and over a reload. */
export function useDraft(address: string): [string, (text: string) => void] {
  const key = `waybill.draft:${address}`;
  const [text, setText] = useState(() => read(key));
  const set = useCallback(
    (next: string) => {
      setText(next);
      try {
        if (next === "") sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, next);
      } catch {
        // A draft too large to keep is kept as long as the place is open.
      }
    },
    [key],
  );
  return [text, set];
}

function read(key: string): string {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}
