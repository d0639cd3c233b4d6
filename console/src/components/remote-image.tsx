import { ImageIcon } from "lucide-react";
import { useTexts } from "../app/language.tsx";
import { safeUrl } from "./safe-link.tsx";
import classes from "./markdown.module.css";

const shownTypes = /^data:image\/(png|jpeg|gif|webp|avif);/i;

/**
 * An image that somebody named in a text. What it would load from elsewhere could tell the other side who reads what
 * and when, so it is a link that says where it leads; an image inside of the text itself is shown.
 */
export function RemoteImage({ src, alt }: { src: string; alt: string }) {
  const t = useTexts();
  if (shownTypes.test(src)) return <img className={classes["image"]} src={src} alt={alt} />;
  const url = safeUrl(src);
  if (!url || url.protocol === "mailto:") return <span title={src.slice(0, 200)}>{alt}</span>;
  return (
    <a
      className={classes["remote"]}
      href={url.href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={url.href}
    >
      <ImageIcon size={14} aria-hidden />
      {t("console.image.open", { name: alt === "" ? t("console.image.unnamed") : alt, host: url.host })}
    </a>
  );
}
