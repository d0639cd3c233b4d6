import { Bot } from "lucide-react";
import classes from "./avatar.module.css";

/** One of eight quiet colours for a name, always the same. */
function hueOf(name: string): number {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % 8;
}

/** Whose words these are, at a glance; decoration beside the name. */
export function Avatar({
  name,
  agent = false,
  small = false,
}: {
  name: string;
  agent?: boolean;
  small?: boolean;
}) {
  const initial = Array.from(name.trim())[0]?.toUpperCase() ?? "?";
  return (
    <span
      className={classes["avatar"]}
      data-hue={hueOf(name)}
      data-agent={agent}
      data-small={small}
      aria-hidden
    >
      {agent ? <Bot size={small ? 14 : 20} strokeWidth={1.75} /> : initial}
    </span>
  );
}
