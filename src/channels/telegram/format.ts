/**
 * Markdown as Telegram shows it: the text without its marks, and beside it what is bold, code and so on. Telegram would
 * read marks too, but then one wrong character makes it refuse the whole post, and what somebody else wrote could
 * become markup. Offsets are in UTF-16 code units (core.telegram.org/bots/api, MessageEntity). The text is never longer
 * than the Markdown.
 */
export interface Formatted {
  text: string;
  entities: Mark[];
}

export type Mark =
  | { type: "bold" | "italic" | "strikethrough" | "code" | "blockquote"; offset: number; length: number }
  | { type: "pre"; offset: number; length: number; language?: string }
  | { type: "text_link"; offset: number; length: number; url: string };

/** Telegram leaves the rest unmarked by itself; so does this, and says which. */
const mostEntities = 100;

export function formatMarkdown(markdown: string): Formatted {
  const out = new Output();
  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length;) {
    const block = codeBlock(lines, at) ?? table(lines, at);
    if (at > 0) out.text += "\n";
    if (block) {
      out.mark(block.mark, () => (out.text += block.lines.join("\n")));
      at = block.next;
    } else at = quote(lines, at, out) ?? textLine(lines, at, out);
  }
  const entities = out.marks.filter(({ length }) => length > 0).toSorted((a, b) => a.offset - b.offset);
  return { text: out.text, entities: entities.slice(0, mostEntities) };
}

type Kind = Mark extends infer M ? (M extends Mark ? Omit<M, "offset" | "length"> : never) : never;

class Output {
  text = "";
  readonly marks: Mark[] = [];

  /** What `write` adds to the text is marked. Outer marks come before those within. */
  mark(kind: Kind | null, write: () => void): void {
    const offset = this.text.length;
    const place = this.marks.length;
    write();
    const mark = { ...kind, offset, length: this.text.length - offset } as Mark;
    if (kind !== null) this.marks.splice(place, 0, mark);
  }
}

interface Block {
  mark: Kind;
  lines: string[];
  /** The line behind it. */
  next: number;
}

/** CommonMark, "Fenced code blocks". One that is not closed goes to the end: the rest is being written. */
function codeBlock(lines: readonly string[], at: number): Block | null {
  const [, indent = "", fence = "", info = ""] =
    /^([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)$/.exec(lines[at] ?? "") ?? [];
  if (fence === "") return null;
  const closing = new RegExp(`^[ \\t]*${fence[0]}{${fence.length},}[ \\t]*$`);
  const found = lines.findIndex((line, n) => n > at && closing.test(line));
  const end = found < 0 ? lines.length : found;
  const inner = lines
    .slice(at + 1, end)
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  const language = /^[\w+#.-]{1,40}/.exec(info.trim())?.[0];
  return {
    mark: language === undefined ? { type: "pre" } : { type: "pre", language },
    lines: inner,
    next: Math.min(lines.length, end + 1),
  };
}

/** Columns stand below each other only in letters of one width. */
function table(lines: readonly string[], at: number): Block | null {
  if (!/^\s*\|.*\|\s*$/.test(lines[at] ?? "") || !/^\s*\|[\s:|-]*-[\s:|-]*\|\s*$/.test(lines[at + 1] ?? ""))
    return null;
  const end = lines.findIndex((line, n) => n > at && !/^\s*\|.*\|\s*$/.test(line));
  const next = end < 0 ? lines.length : end;
  return { mark: { type: "pre" }, lines: lines.slice(at, next), next };
}

/** Lines that begin with `>`: one quotation. */
function quote(lines: readonly string[], at: number, out: Output): number | null {
  let next = at;
  while (/^ {0,3}>/.test(lines[next] ?? "")) next += 1;
  if (next === at) return null;
  out.mark({ type: "blockquote" }, () => {
    for (let n = at; n < next; n += 1) {
      if (n > at) out.text += "\n";
      inline((lines[n] ?? "").replace(/^ {0,3}> ?/, ""), out);
    }
  });
  return next;
}

function textLine(lines: readonly string[], at: number, out: Output): number {
  const line = lines[at] ?? "";
  const heading = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line);
  const item = /^([ \t]*)[-*+]([ \t]+.*)$/.exec(line);
  if (heading) out.mark({ type: "bold" }, () => inline(heading[1] ?? "", out, new Set(["bold"])));
  else if (item && !/^[ \t]*([-*])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) {
    out.text += `${item[1] ?? ""}•`;
    inline(item[2] ?? "", out);
  } else inline(line, out);
  return at + 1;
}

type Style = "bold" | "italic" | "strikethrough";

const delimiters: readonly [string, Style][] = [
  ["**", "bold"],
  ["__", "bold"],
  ["~~", "strikethrough"],
  ["*", "italic"],
  ["_", "italic"],
];

const plain = /[^\\`*_~[]+/y;

/** Marks within a line. What is no mark stays as it is. */
function inline(text: string, out: Output, within: ReadonlySet<Style> = new Set()): void {
  for (let at = 0; at < text.length;) {
    plain.lastIndex = at;
    const run = plain.exec(text)?.[0] ?? "";
    out.text += run;
    at += run.length;
    if (at >= text.length) return;
    const next = escaped(text, at, out) ?? code(text, at, out) ?? link(text, at, out, within);
    if (next !== null) at = next;
    else at = styled(text, at, out, within);
  }
}

function escaped(text: string, at: number, out: Output): number | null {
  if (text[at] !== "\\" || !/[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) return null;
  out.text += text[at + 1];
  return at + 2;
}

/** CommonMark, "Code spans": as many backticks close it as opened it. */
function code(text: string, at: number, out: Output): number | null {
  if (text[at] !== "`") return null;
  const ticks = /`+/y;
  ticks.lastIndex = at;
  const mark = ticks.exec(text)?.[0] ?? "`";
  const from = at + mark.length;
  const end = new RegExp(`(?<!\`)${mark}(?!\`)`, "g");
  end.lastIndex = from;
  const to = end.exec(text)?.index;
  if (to === undefined || to === from) {
    out.text += mark;
    return from;
  }
  const inner = text.slice(from, to).replace(/^ (.*[^ ].*) $/, "$1");
  out.mark({ type: "code" }, () => (out.text += inner));
  return to + mark.length;
}

/** `[words](address)`. Other addresses than these could make a client do something. */
const linkShape =
  /\[((?:[^[\]\\]|\\.){1,500})\]\(<?((?:https?:\/\/|mailto:)(?:[^\s()<>]|\([^\s()<>]*\)){1,2000})>?\)/y;

function link(text: string, at: number, out: Output, within: ReadonlySet<Style>): number | null {
  if (text[at] !== "[") return null;
  linkShape.lastIndex = at;
  const found = linkShape.exec(text);
  if (!found) {
    out.text += "[";
    return at + 1;
  }
  const [whole, words = "", url = ""] = found;
  out.mark({ type: "text_link", url }, () => inline(words, out, within));
  return at + whole.length;
}

function styled(text: string, at: number, out: Output, within: ReadonlySet<Style>): number {
  for (const [mark, style] of delimiters) {
    if (!text.startsWith(mark, at)) continue;
    const from = at + mark.length;
    const to = within.has(style) ? -1 : closingOf(text, from, mark);
    if (to < 0) continue;
    out.mark({ type: style }, () => inline(text.slice(from, to), out, new Set([...within, style])));
    return to + mark.length;
  }
  const [run = text[at] ?? ""] = /^(?:\*+|_+|~+|.)/u.exec(text.slice(at)) ?? [];
  out.text += run;
  return at + run.length;
}

/** Where a mark that opens at `from` is closed, or -1. Marks touch what they mark; `_` stands only around whole words. */
function closingOf(text: string, from: number, mark: string): number {
  const before = text[from - mark.length - 1] ?? " ";
  const sign = mark[0] ?? "";
  if (/\s/.test(text[from] ?? " ") || text[from] === sign) return -1;
  if (sign === "_" && /[\p{L}\p{N}]/u.test(before)) return -1;
  if (mark === "*" && /[\p{L}\p{N}]/u.test(before) && /\d/.test(text[from] ?? "")) return -1;
  for (let to = text.indexOf(mark, from + 1); to >= 0; to = text.indexOf(mark, to + 1)) {
    const after = text[to + mark.length] ?? " ";
    // A single mark is not half of a double one.
    if (mark.length === 1 && (after === sign || text[to - 1] === sign)) continue;
    if (/[\s\\]/.test(text[to - 1] ?? " ")) continue;
    if (sign === "_" && /[\p{L}\p{N}]/u.test(after)) continue;
    return to;
  }
  return -1;
}
