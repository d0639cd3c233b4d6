import { isTextKey, renderText, type Locale, type TextKey } from "../../../../src/texts/render.ts";

/** A reason that the ledger keeps, in words; one that this page does not know stands as it is. */
export function reasonOf(locale: Locale, reason: string): string {
  for (const key of [`reason.${reason}`, `console.runs.reason.${reason}`]) {
    if (isTextKey(key)) return renderText(locale, key as TextKey & `reason.${string}`);
  }
  return reason;
}
