export const reservedWords = ["stop", "new", "status", "help"] as const;

export type ReservedWord = (typeof reservedWords)[number];

/**
 * A message that is nothing but a reserved word, with or without a slash: `stop`, `/stop`, ` Status `. Anything more
 * is an ordinary message ("stop the deploy" is for the agent).
 */
export function reservedWordOf(text: string): ReservedWord | null {
  const word = text.trim().toLowerCase().replace(/^\//, "");
  return reservedWords.find((reserved) => reserved === word) ?? null;
}
