/** Where the histories play: two accounts of a platform and the web channel; and what the rules allow between them. */

export interface HistoryPlace {
  address: string;
  /** The conversation's address; of a thread, the conversation that it is in. */
  conversation: string;
  kind: "dm" | "channel";
  name: "dm" | "channel" | "thread";
}

export const accounts = ["a", "b"];

const dm = (address: string): HistoryPlace => ({ address, conversation: address, kind: "dm", name: "dm" });
const channel = (address: string): HistoryPlace => ({ ...dm(address), kind: "channel", name: "channel" });
const thread = (conversation: string): HistoryPlace => ({
  address: `${conversation}/t1`,
  conversation,
  kind: "channel",
  name: "thread",
});

/** Web conversations are a history's own, since what was said there stays. */
export function placesOf(history: string): HistoryPlace[] {
  return [
    dm("webhook:a/dm1"),
    dm("webhook:a/dm2"),
    channel("webhook:a/general"),
    thread("webhook:a/general"),
    dm("webhook:b/dm1"),
    channel("webhook:b/general"),
    thread("webhook:b/general"),
    dm(`web:main/${history}-dm`),
    channel(`web:main/${history}-room`),
    thread(`web:main/${history}-room`),
  ];
}

/** A channel to which two places may post, by rules that name both ends. */
export const news = "webhook:a/news";
const sources = ["webhook:a/general", "webhook:a/dm1"];
export const crossPost = sources.map((from) => ({ from, to: news }));

/** What may be named as a target. */
export const targets = [news, "webhook:a/general", "webhook:a/dm2", "webhook:b/general", "webhook:b/dm1"];

/** By requirements, not by the code under test: one's own conversation, or a rule that names both ends. */
export function maySend(from: HistoryPlace, to: string): boolean {
  const same = to === from.conversation || to.startsWith(`${from.conversation}/`);
  return same || (to === news && sources.includes(from.conversation));
}
