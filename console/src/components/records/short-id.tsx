import { Link } from "wouter";
import { useTexts } from "../../app/language.tsx";
import { CopyButton } from "../copy-button.tsx";
import classes from "./short-id.module.css";

/** The end of an id, where ids of one kind differ: `run …9f3a1c`. */
export function shortId(id: string): string {
  const cut = id.indexOf("_");
  return id.length <= 14 ? id : `${cut > 0 ? `${id.slice(0, cut)} ` : ""}…${id.slice(-6)}`;
}

/** An id that leads to its page, if it has one. */
export function IdLink({ id, href }: { id: string; href: string }) {
  return (
    <Link href={href} className={classes["link"]} title={id}>
      {shortId(id)}
    </Link>
  );
}

/** A whole id, and how to take it along. `name` says what it is the id of. */
export function CopyId({ id, name }: { id: string; name: string }) {
  const t = useTexts();
  return (
    <span className={classes["whole"]}>
      <code>{id}</code>
      <CopyButton text={id} label={t("console.runs.copy_id", { name })} />
    </span>
  );
}
