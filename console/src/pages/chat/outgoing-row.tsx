import { RotateCcw, Trash2 } from "lucide-react";
import { useTexts } from "../../app/language.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { discard, sendAgain, type Outgoing } from "../../data/outgoing.ts";
import { Parts } from "./message-body.tsx";
import row from "./message-row.module.css";
import classes from "./outgoing-row.module.css";
import { senderName } from "../../components/names.ts";

/** A message that the server has not confirmed yet, or did not take. */
export function OutgoingRow({ outgoing }: { outgoing: Outgoing }) {
  const t = useTexts();
  const { error, id } = outgoing;
  const name = senderName(t, outgoing.speaker);
  return (
    <article className={row["row"]} data-first="true" aria-label={t("console.chat.sending_by", { name })}>
      <div className={row["gutter"]}>
        <Avatar name={name} />
      </div>
      <div className={row["content"]}>
        <div className={row["head"]}>
          <strong dir="auto">{name}</strong>
          {error ? null : <span className={classes["state"]}>{t("console.chat.sending")}</span>}
        </div>
        <div className={classes["text"]}>
          {outgoing.text === "" ? null : <Markdown text={outgoing.text} />}
          <Parts parts={outgoing.parts} />
        </div>
        {error ? (
          <div className={classes["failed"]} role="alert">
            <span dir="auto">
              {error.status === 0 ? t("console.chat.not_sent") : (error.problem.detail ?? error.code)}
            </span>
            <button type="button" className={row["retry"]} onClick={() => sendAgain(id)}>
              <RotateCcw size={14} aria-hidden />
              {t("console.chat.send_again")}
            </button>
            <button type="button" className={row["retry"]} onClick={() => discard(id)}>
              <Trash2 size={14} aria-hidden />
              {t("console.chat.discard")}
            </button>
          </div>
        ) : null}
      </div>
    </article>
  );
}
