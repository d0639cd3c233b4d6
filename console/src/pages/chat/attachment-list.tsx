import { FileText, X } from "lucide-react";
import { useLanguage } from "../../app/language.tsx";
import { IconButton } from "../../components/icon-button.tsx";
import { fileBytes, sizeText, type FilePart } from "./attachments.ts";
import classes from "./composer.module.css";

/** The files that will go with the message. */
export function AttachmentList(props: { files: readonly FilePart[]; onRemove: (index: number) => void }) {
  const { t, locale } = useLanguage();
  if (props.files.length === 0) return null;
  return (
    <ul className={classes["files"]} aria-label={t("console.composer.files")}>
      {props.files.map((file, index) => {
        const name = file.filename ?? file.mediaType;
        return (
          <li key={index}>
            {file.mediaType.startsWith("image/") ? (
              <img src={file.url} alt="" />
            ) : (
              <FileText size={16} aria-hidden />
            )}
            <span dir="auto">{name}</span>
            <small>{sizeText(locale, fileBytes(file.url) ?? 0)}</small>
            <IconButton label={t("console.composer.remove", { name })} onClick={() => props.onRemove(index)}>
              <X size={14} />
            </IconButton>
          </li>
        );
      })}
    </ul>
  );
}
