import type { Chunk } from "../stream.ts";

/** Chunks that carry a piece of a growing text, as the AI SDK names them: the field of the part's id and that of the text. */
const deltas = new Map([
  ["text-delta", { id: "id", text: "delta" }],
  ["reasoning-delta", { id: "id", text: "delta" }],
  ["tool-input-delta", { id: "toolCallId", text: "inputTextDelta" }],
]);

/**
 * The piece of text of a delta. Null for any other chunk, and for a delta with something beside its text that merging
 * would lose (provider metadata, for one).
 */
export function deltaText(chunk: Chunk): string | null {
  const fields = deltas.get(chunk.type);
  if (fields === undefined) return null;
  const text = chunk[fields.text];
  if (typeof text !== "string" || typeof chunk[fields.id] !== "string") return null;
  for (const field in chunk) {
    if (field !== "type" && field !== fields.id && field !== fields.text && chunk[field] !== undefined)
      return null;
  }
  return text;
}

/** True if two deltas are pieces of the same part. */
export function samePart(a: Chunk, b: Chunk): boolean {
  const fields = deltas.get(a.type);
  return a.type === b.type && fields !== undefined && a[fields.id] === b[fields.id];
}

/** The same delta with another text. */
export function withText(chunk: Chunk, text: string): Chunk {
  return { ...chunk, [deltas.get(chunk.type)!.text]: text };
}

/**
 * What a text takes as UTF-8, in bytes. Each half of a surrogate pair counts two, also where tokens part the pair,
 * so that the sizes of the pieces add up to the size of the whole.
 */
export function utf8Size(text: string): number {
  const size = Buffer.byteLength(text);
  if (size === text.length) return size;
  let sum = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) sum += 1;
    else if (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000)) sum += 2;
    else sum += 3;
  }
  return sum;
}
