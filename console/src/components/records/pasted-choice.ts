import { Waypoints, type LucideIcon } from "lucide-react";
import type { Translate } from "../../app/language.tsx";
import { readPasted } from "../../data/story.ts";

/** The way to the story of what was typed into the palette, where that may be an id, an address or a link. */
export function pastedChoices(
  t: Translate,
  wish: string,
): { id: string; text: string; hint: string; icon: LucideIcon; href: string }[] {
  if (!/[_:#/]/.test(wish.trim().slice(1))) return [];
  const pasted = readPasted(wish);
  if (pasted === null) return [];
  const isAsked = "ask" in pasted;
  const text = wish.trim().slice(0, 200);
  return [
    {
      id: "pasted",
      text: isAsked ? t("console.paste.choice", { text }) : t("console.paste.choice_place", { text }),
      hint: "",
      icon: Waypoints,
      href: isAsked ? `/runs/${encodeURIComponent(pasted.ask)}` : pasted.href,
    },
  ];
}
