/** One piece of a text: what stands in it of the text, and the fence lines around it where a cut went through code. */
export interface Piece {
  before: string;
  raw: string;
  after: string;
}

/** An open code block: the line that opened it, its indentation, and the characters that close it. */
interface Fence {
  line: string;
  indent: string;
  mark: string;
}

/** A longer opening line (a title, attributes) is not repeated whole. */
const longestOpening = 100;

/**
 * Cuts Markdown into pieces of at most `most` UTF-16 code units. The `raw` of all pieces joined is the text. Where a cut
 * goes through a fenced code block, the piece closes it and the next one opens it again, so that each piece stands
 * alone. A cut is behind the last line end of the second half of a piece, else behind white space, and never inside a
 * surrogate pair.
 */
export function cutMarkdown(text: string, most: number): Piece[] {
  const pieces: Piece[] = [];
  let fence: Fence | null = null;
  let from = 0;
  for (;;) {
    const before: string = fence === null ? "" : opening(fence, most);
    const room: number = most - before.length;
    if (text.length - from <= room) return [...pieces, { before, raw: text.slice(from), after: "" }];
    const cut = findCut(text, from, room, fence, most);
    pieces.push({ before, raw: text.slice(from, cut.to), after: cut.after });
    fence = cut.fence;
    from = cut.to;
  }
}

/** The pieces as they are posted. At least one. */
export function splitMarkdown(text: string, most: number): string[] {
  return cutMarkdown(text, most).map(({ before, raw, after }) => before + raw + after);
}

function findCut(
  text: string,
  from: number,
  room: number,
  fence: Fence | null,
  most: number,
): { to: number; after: string; fence: Fence | null } {
  const whole = cutWithin(text, from, from + room);
  const open = fenceAfter(text.slice(from, whole), fence);
  if (open === null || !fits(open, most)) return { to: whole, after: "", fence: null };
  // Inside of code: room is kept for the line that closes it.
  const to = cutWithin(text, from, from + room - closing(open).length - 1);
  const still = fenceAfter(text.slice(from, to), fence);
  if (still === null || !fits(still, most)) return { to, after: "", fence: null };
  const closed = to + closingLine(text, to, still);
  if (closed > to && closed <= from + room) return { to: closed, after: "", fence: null };
  // A block of which only the opening line would stand here begins in the next piece.
  const opened = text.lastIndexOf("\n", to - 2) + 1;
  if (opened > from && fenceAfter(text.slice(from, opened), fence) === null) {
    return { to: opened, after: "", fence: null };
  }
  return { to, after: (text[to - 1] === "\n" ? "" : "\n") + closing(still), fence: still };
}

/** The length of the line at `at`, if it closes the block; else 0. */
function closingLine(text: string, at: number, fence: Fence): number {
  if (text[at - 1] !== "\n") return 0;
  const end = text.indexOf("\n", at);
  const line = end < 0 ? text.slice(at) : text.slice(at, end + 1);
  return fenceAfter(line, fence) === null ? line.length : 0;
}

/** Too little room for fence lines: then the text is cut as if there were none. */
function fits(fence: Fence, most: number): boolean {
  return opening(fence, most).length + closing(fence).length + 1 <= most / 2;
}

function opening({ line, indent, mark }: Fence, most: number): string {
  return `${line.length <= Math.min(longestOpening, most / 4) ? line : indent + mark}\n`;
}

function closing({ indent, mark }: Fence): string {
  return indent + mark;
}

function cutWithin(text: string, from: number, limit: number): number {
  const least = from + Math.floor((limit - from) / 2);
  const line = text.lastIndexOf("\n", limit - 1);
  if (line >= least) return line + 1;
  for (let at = limit; at > least; at -= 1) {
    if (/\s/.test(text.charAt(at - 1)) && text.charAt(at) !== "\n") return at;
  }
  return isInsidePair(text, limit) && limit - 1 > from ? limit - 1 : limit;
}

function isInsidePair(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));
}

/** CommonMark, "Fenced code blocks"; any indentation, since a block may stand in a list. */
const fenceLine = /^([ \t]*)(`{3,}|~{3,})(.*)$/;

/** The code block that is open behind a text, given the one before it. */
function fenceAfter(text: string, before: Fence | null): Fence | null {
  let open = before;
  for (const line of text.split("\n")) {
    const [, indent = "", mark = "", rest = ""] = fenceLine.exec(line.replace(/\r$/, "")) ?? [];
    if (mark === "") continue;
    if (open === null) {
      // What begins with backticks and has more of them is code within a line.
      if (mark.startsWith("~") || !rest.includes("`")) open = { line: line.trimEnd(), indent, mark };
    } else if (mark[0] === open.mark[0] && mark.length >= open.mark.length && rest.trim() === "") open = null;
  }
  return open;
}
