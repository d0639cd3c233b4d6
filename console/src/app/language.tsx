import { createContext, use, useEffect, useMemo, useState, type ReactNode } from "react";
import { renderText, type Locale, type TextKey } from "../../../src/texts/render.ts";
import { speak } from "../data/api.ts";

type RenderArguments<K extends TextKey> =
  Parameters<typeof renderText<K>> extends [unknown, unknown, ...infer Rest] ? Rest : never;

/** A text of the catalogue in the reader's language. */
export type Translate = <K extends TextKey>(key: K, ...values: RenderArguments<K>) => string;

interface Language {
  locale: Locale;
  t: Translate;
  choose(locale: Locale): void;
}

const storedKey = "waybill.locale";
const Context = createContext<Language | null>(null);

function firstLocale(): Locale {
  try {
    const stored = localStorage.getItem(storedKey);
    if (stored === "en" || stored === "ko") return stored;
  } catch {
    // The browser's own wish decides.
  }
  const wished = navigator.languages.map((tag) => tag.toLowerCase().split("-")[0]);
  return wished.find((tag) => tag === "en" || tag === "ko") === "ko" ? "ko" : "en";
}

/** English or Korean: what was chosen here, else the first of them that the browser asks for. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [locale, setLocale] = useState(firstLocale);
  speak(locale);
  useEffect(() => {
    document.documentElement.lang = locale;
  }, [locale]);
  const language = useMemo<Language>(
    () => ({
      locale,
      t: ((key: TextKey, values: never) => renderText(locale, key, values)) as Translate,
      choose(next) {
        setLocale(next);
        try {
          localStorage.setItem(storedKey, next);
        } catch {
          // It is chosen for as long as the page lives.
        }
      },
    }),
    [locale],
  );
  return <Context value={language}>{children}</Context>;
}

export function useLanguage(): Language {
  const language = use(Context);
  if (!language) throw new TypeError("There is no LanguageProvider around this component.");
  return language;
}

export function useTexts(): Translate {
  return useLanguage().t;
}
