/**
 * Bytes of one message at most: a line has 512 with its end (RFC 2812, 2.3), of which the server's own
 * `:nick!user@host PRIVMSG target :` takes up to about 150.
 */
export const lineBytes = 350;

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Splits a text into pieces of one line each; joined, they are the text. Line ends stay at the end of the piece that they
 * end, also those of empty lines, which IRC cannot show. A long line is cut behind a space, or else between characters.
 */
export function splitLines(text: string): string[] {
  const pieces: string[] = [];
  for (const line of text.match(/[^\n]*\n*|\n+/g) ?? []) {
    if (line === "") continue;
    if (line.trim() === "" && pieces.length > 0) pieces[pieces.length - 1] += line;
    else pieces.push(...cutLine(line));
  }
  return pieces.length === 0 ? [text] : pieces;
}

function cutLine(line: string): string[] {
  const pieces: string[] = [];
  let piece = "";
  let bytes = 0;
  for (const { segment } of segmenter.segment(line)) {
    const more = /^[\r\n]+$/.test(segment) ? 0 : Buffer.byteLength(segment);
    if (bytes + more > lineBytes) {
      const space = piece.lastIndexOf(" ");
      const cut = space > piece.length / 2 ? space + 1 : piece.length;
      pieces.push(piece.slice(0, cut));
      piece = piece.slice(cut);
      bytes = Buffer.byteLength(piece);
    }
    piece += segment;
    bytes += more;
  }
  return [...pieces, piece];
}

/** A piece as it goes over the line: nothing that would end the line and begin a command of its own. */
export function asLine(piece: string): string {
  return piece.replaceAll(/[\r\n\0]+/g, " ").trim();
}
