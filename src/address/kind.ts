/**
 * Who can read a conversation. The channel asks the platform and the answer is stored; it is never guessed from an
 * address. `unknown` is a place of which the platform has not told.
 */
export type ConversationKind = "dm" | "group" | "channel" | "unknown";

export const conversationKinds = [
  "dm",
  "group",
  "channel",
  "unknown",
] as const satisfies readonly ConversationKind[];

const widths: Record<ConversationKind, number> = { dm: 0, group: 1, channel: 2, unknown: 3 };

/** How wide the audience may be, to compare with: a larger number is wider, and `unknown` is the widest. */
export function widthOf(kind: ConversationKind): number {
  return widths[kind];
}

/**
 * True if something moved from a place of kind `than` to one of kind `to` may be read by more people. What is unknown
 * is taken at its worst at either end: as a target it may be public, as a source it may be a direct message.
 */
export function isWider(to: ConversationKind, than: ConversationKind): boolean {
  return widthOf(to) > (than === "unknown" ? widthOf("dm") : widthOf(than));
}
