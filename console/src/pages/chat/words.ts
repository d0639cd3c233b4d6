import type { TextKey } from "../../../../src/texts/render.ts";

/** The words that every channel knows, as the composer offers them after a slash. */
export const words = [
  { word: "status", about: "console.word.status" },
  { word: "stop", about: "console.word.stop" },
  { word: "new", about: "console.word.new" },
  { word: "help", about: "console.word.help" },
] as const satisfies readonly { word: string; about: TextKey }[];

/** The words that fit what is typed, if it is a slash and the beginning of one; else none. */
export function wordsFor(text: string): readonly (typeof words)[number][] {
  const begun = /^\/([a-z]*)$/i.exec(text)?.[1]?.toLowerCase();
  return begun === undefined ? [] : words.filter(({ word }) => word.startsWith(begun));
}
