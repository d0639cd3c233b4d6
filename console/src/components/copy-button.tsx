import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { useTexts } from "../app/language.tsx";
import { announce } from "./live-region.tsx";
import { IconButton } from "./icon-button.tsx";

/** Copies a text, and says that it did. `label` says what is copied where "Copy" alone would not. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const t = useTexts();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    await writeClipboard(text);
    setCopied(true);
    announce(t("console.copied"));
  };
  return (
    <IconButton
      label={copied ? t("console.copied") : (label ?? t("console.copy"))}
      onClick={() => void copy()}
    >
      {copied ? <Check size={15} /> : <Copy size={15} />}
    </IconButton>
  );
}

/** The clipboard API is missing on a page that is neither on localhost nor on HTTPS; the old way still works there. */
async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
