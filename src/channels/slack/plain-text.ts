/** The text as it is, with what Slack would take for its own markup written as entities. */
export function plainPost(text: string): { text: string } {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return { text: escaped };
}

/** Pieces of at most `most` UTF-16 code units that joined are the text; cut behind a line where one ends late enough. */
export function splitPlain(text: string, most: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > most) {
    const line = text.lastIndexOf("\n", from + most - 1) + 1;
    let to = line > from + most / 2 ? line : from + most;
    if (/^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(to - 1, to + 1))) to -= 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return [...pieces, text.slice(from)];
}
