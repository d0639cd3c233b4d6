/**
 * Splits a text into pieces of at most `most` UTF-16 code units; joined, they are the text. Each cut is behind the last
 * line end or white space of the second half of a piece, where there is one, and else between two characters as people
 * see them (an emoji with its parts, a letter with its accents), unless one alone is longer than a piece.
 */
export function splitText(text: string, most: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > most) {
    const to = findCut(text, from, from + most);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return [...pieces, text.slice(from)];
}

function findCut(text: string, from: number, limit: number): number {
  const least = from + Math.floor((limit - from) / 2);
  const line = text.lastIndexOf("\n", limit - 1);
  if (line >= least) return line + 1;
  for (let at = limit; at > least; at -= 1) {
    if (isBehindSpace(text, at)) return at;
  }
  return betweenCharacters(text, from, limit);
}

const space = /\s/;
/** What belongs to the character before it: marks, joiners and variation selectors; and the second half of CR LF. */
const attached = /^[\p{M}\u200D\uFE00-\uFE0F\n]/u;

function isBehindSpace(text: string, at: number): boolean {
  return space.test(text.charAt(at - 1)) && !attached.test(text.slice(at, at + 2));
}

/** So much of the text before the limit is looked at: segmenting all of a long text would cost far more. */
const looked = 128;
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function betweenCharacters(text: string, from: number, limit: number): number {
  let start = Math.max(from, limit - looked);
  if (isInsidePair(text, start)) start -= 1;
  let cut = from;
  for (const { index } of segmenter.segment(text.slice(start, limit + looked))) {
    if (start + index > limit) break;
    if (index > 0) cut = start + index;
  }
  if (cut > from) return cut;
  return isInsidePair(text, limit) ? limit - 1 : limit;
}

function isInsidePair(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));
}
