import { CopyButton } from "./copy-button.tsx";
import classes from "./markdown.module.css";

/** A block of code: its language, a button to copy it, and its own scrolling when it is wide. */
export function CodeBlock({ code, language }: { code: string; language?: string | undefined }) {
  const name = language?.trim().split(/\s/, 1)[0] ?? "";
  return (
    <div className={classes["code"]} dir="ltr">
      <div className={classes["code-head"]}>
        <span>{name}</span>
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  );
}
