import { FileText, Link2 } from "lucide-react";
import { useState } from "react";
import { isTextKey, renderStoredText } from "../../../../src/texts/render.ts";
import type { WireMessage, WireMessagePart } from "../../../../src/http/api.ts";
import { useLanguage } from "../../app/language.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { SafeLink, textWithIds } from "../../components/safe-link.tsx";
import { fileBytes, sizeText } from "./attachments.ts";
import classes from "./message-row.module.css";

/** A text longer than this is cut until somebody asks for all of it. UTF-16 units. */
const wholeMost = 12_000;
const cutTo = 5_000;

/** What a message says, in the reader's language where it is a text of ours; and its files. */
export function MessageBody({ message }: { message: WireMessage }) {
  const { locale } = useLanguage();
  const { notice } = message;
  if (notice && isTextKey(notice.key)) {
    const kind = notice.key.startsWith("run.") ? "failed" : "said";
    return (
      <p className={classes["notice"]} data-kind={kind} dir="auto">
        {textWithIds(renderStoredText(locale, notice.key, notice.values) ?? message.text)}
      </p>
    );
  }
  return (
    <>
      {message.text === "" ? null : <LongText text={message.text} />}
      <Parts parts={message.parts} />
    </>
  );
}

function LongText({ text }: { text: string }) {
  const { t, locale } = useLanguage();
  const [whole, setWhole] = useState(false);
  if (text.length <= wholeMost) return <Markdown text={text} />;
  return (
    <>
      <div className={whole ? undefined : classes["cut"]}>
        <Markdown text={whole ? text : text.slice(0, cutTo)} open={!whole} />
      </div>
      <button
        type="button"
        className={classes["more"]}
        aria-expanded={whole}
        onClick={() => setWhole(!whole)}
      >
        {whole
          ? t("console.chat.show_less")
          : t("console.chat.show_all", { size: sizeText(locale, text.length) })}
      </button>
    </>
  );
}

export function Parts({ parts }: { parts: readonly WireMessagePart[] }) {
  const files = parts.filter((part) => part.type === "file");
  const sources = parts.filter((part) => part.type === "citation");
  if (files.length + sources.length === 0) return null;
  return (
    <div className={classes["files"]}>
      {files.map((file, index) => (
        <FilePartView key={index} file={file} />
      ))}
      {sources.map((source, index) => (
        <span key={index} className={classes["file"]}>
          <Link2 size={15} aria-hidden />
          <span dir="auto">
            <SafeLink href={source.url}>{source.title ?? source.url}</SafeLink>
          </span>
        </span>
      ))}
    </div>
  );
}

const shownTypes = /^data:image\/(png|jpeg|gif|webp|avif);/i;

function FilePartView({ file }: { file: Extract<WireMessagePart, { type: "file" }> }) {
  const { t, locale } = useLanguage();
  const name = file.filename ?? file.mediaType;
  if (shownTypes.test(file.url)) return <img className={classes["picture"]} src={file.url} alt={name} />;
  const bytes = fileBytes(file.url);
  if (bytes === null) {
    return (
      <span className={classes["file"]}>
        <FileText size={16} aria-hidden />
        <span dir="auto">
          <SafeLink href={file.url}>{name}</SafeLink>
        </span>
      </span>
    );
  }
  return (
    <a
      className={classes["file"]}
      href={file.url}
      download={file.filename ?? "file"}
      aria-label={t("console.chat.download", { name })}
    >
      <FileText size={16} aria-hidden />
      <span dir="auto">{name}</span>
      <small>{sizeText(locale, bytes)}</small>
    </a>
  );
}
