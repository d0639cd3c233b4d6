import { en, ko, type Text, type TextKey } from "./catalogue.ts";

export type { TextKey } from "./catalogue.ts";

export type Locale = "en" | "ko";

export const locales = ["en", "ko"] as const satisfies readonly Locale[];

const catalogues: Record<Locale, Record<TextKey, Text>> = { en, ko };

/** What is put into a text: words for people, never a stack or a secret. */
export type TextValues = Readonly<Record<string, string | number>>;

/** The names in braces of a text. */
type Placeholder<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

type PlaceholderOf<K extends TextKey> = (typeof en)[K] extends infer T
  ? T extends string
    ? Placeholder<T>
    : T extends { other: infer Other extends string }
      ? Placeholder<Other>
      : never
  : never;

/** The values that the text of a key needs. */
export type ValuesOf<K extends TextKey> = { readonly [Name in PlaceholderOf<K>]: string | number };

/** A text in the reader's language. The compiler asks for the values that the key's text names. */
export function renderText<K extends TextKey>(
  locale: Locale,
  key: K,
  ...[values]: [PlaceholderOf<K>] extends [never] ? [values?: TextValues] : [values: ValuesOf<K>]
): string {
  return fill(catalogues[locale][key], (values ?? {}) as TextValues);
}

/**
 * A text whose key and values were stored, perhaps by another version: a value that is missing shows as "?", and a key
 * that this version does not know gives null.
 */
export function renderStoredText(locale: Locale, key: string, values: TextValues): string | null {
  return isTextKey(key) ? fill(catalogues[locale][key], values) : null;
}

export function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(en, key);
}

/** Why a run ended as it did, for people. `reason` is the code that the ledger keeps; an unknown one says little. */
export function reasonText(locale: Locale, reason: string): string {
  const key = `reason.${reason}`;
  return renderText(locale, isReasonKey(key) ? key : "reason.other");
}

function isReasonKey(key: string): key is TextKey & `reason.${string}` {
  return isTextKey(key) && key.startsWith("reason.");
}

/** One pass over the text, so that braces inside of a value stay what they are. */
function fill(text: Text, values: TextValues): string {
  const chosen = typeof text === "string" ? text : Number(values["count"]) === 1 ? text.one : text.other;
  return chosen.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : "?",
  );
}
