import { names, type Self } from "./read-event.ts";

/** What stands for an id in a text that people and models read; null where it could not be found out. */
export interface Names {
  person(id: string): Promise<string | null>;
  conversation(id: string): Promise<string | null>;
}

/**
 * What a person wrote, without Slack's markup: our own mention is left out, mentions and channels have their names,
 * links their addresses, and `&amp;`, `&lt;` and `&gt;` are characters again (docs.slack.dev, "Formatting message text").
 */
export async function readableText(text: string, self: Self, lookUp: Names): Promise<string> {
  const found = [...text.matchAll(markup)];
  const said = await Promise.all(found.map((match) => sayMarkup(match[1] ?? "", self, lookUp)));
  let at = 0;
  let out = "";
  for (const [n, match] of found.entries()) {
    out += plain(text.slice(at, match.index)) + (said[n] ?? "");
    at = match.index + match[0].length;
  }
  out += plain(text.slice(at));
  return names(text, self) ? tidy(out) : out;
}

/** What Slack puts between angle brackets; those that people type are entities. */
const markup = /<([^<>]{1,4000})>/g;
/** Stands where our own mention stood, until the space around it is closed. It cannot be typed. */
const gap = "\uE0A0\u0000";

async function sayMarkup(inner: string, self: Self, lookUp: Names): Promise<string> {
  const bar = inner.indexOf("|");
  const target = bar < 0 ? inner : inner.slice(0, bar);
  const label = bar < 0 ? "" : plain(inner.slice(bar + 1));
  const rest = target.slice(1);
  switch (target[0]) {
    case "@":
      if (rest === self.userId) return gap;
      return `@${label || ((await lookUp.person(rest)) ?? rest)}`;
    case "#":
      return `#${label || ((await lookUp.conversation(rest)) ?? rest)}`;
    case "!":
      return saySpecial(rest, label);
    default:
      return sayLink(plain(target), label);
  }
}

/** `<!here>`, `<!subteam^S1|@team>`, `<!date^...|fallback>`. */
function saySpecial(rest: string, label: string): string {
  if (label !== "") return label;
  const [name = "", id] = rest.split("^", 2);
  return `@${name === "subteam" && id ? id : name}`;
}

function sayLink(url: string, label: string): string {
  const bare = url.replace(/^(mailto:|tel:|https?:\/\/)/, "");
  if (label === "" || label === url || label === bare) return /^(mailto|tel):/.test(url) ? bare : url;
  return `${label} (${url})`;
}

function plain(text: string): string {
  return text.replace(/&(lt|gt|amp);/g, (_, name: string) => entities[name] ?? "");
}
const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&" };

/** Closes the gaps: "hey @bot, look" is "hey, look", "where, @bot?" is "where?", and "@bot: look" is "look". */
function tidy(text: string): string {
  return text
    .replaceAll(new RegExp(`^(\\s*${gap}\\s*)+[:,]?\\s*`, "g"), "")
    .replaceAll(new RegExp(`,?[ \\t]*${gap}`, "g"), "")
    .trim();
}
