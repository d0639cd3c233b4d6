import { useTexts } from "../../app/language.tsx";
import classes from "./composer.module.css";
import type { words } from "./words.ts";

interface WordMenuProps {
  id: string;
  found: readonly (typeof words)[number][];
  at: number;
  onChoose: (word: string) => void;
}

/** The words that fit what was typed after a slash; the field keeps the focus. */
export function WordMenu({ id, found, at, onChoose }: WordMenuProps) {
  const t = useTexts();
  if (found.length === 0) return null;
  return (
    <ul id={id} role="listbox" aria-label={t("console.composer.words")} className={classes["words"]}>
      {found.map(({ word, about }, index) => (
        <li
          key={word}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(word)}
        >
          <code>/{word}</code>
          <span>{t(about)}</span>
        </li>
      ))}
    </ul>
  );
}
