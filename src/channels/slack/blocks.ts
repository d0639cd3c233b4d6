import { plainPost } from "./plain-text.ts";
import type { PostBody } from "./send.ts";

/** Characters of all blocks `markdown` of one message (docs.slack.dev, "Markdown block"). */
const mostMarkdown = 12_000;

/**
 * A piece of an answer as a post. `text` carries the whole of it, for notifications, search and screen readers; the
 * block has the same Markdown, which Slack itself turns into headings, lists, tables and code. What is too long for a
 * block is posted as text alone.
 */
export function markdownPost(text: string): PostBody {
  const markdown = withoutPings(text);
  const { text: plain } = plainPost(text);
  if (markdown.trim() === "" || markdown.length > mostMarkdown) return { text: plain };
  return { text: plain, blocks: [{ type: "markdown", text: markdown }] };
}

/** Between the sign and the name it is not seen, and Slack knows the mention no more. */
const apart = "\u200B";

/**
 * Mentions of people, groups and channels in the way that Slack would take for one. What an agent writes pings nobody,
 * as what somebody else wrote may stand in it; HTML such as `<!-- -->` stays as it is.
 */
const mention = /<(?=!(?:channel|here|everyone|group|subteam\^|date\^)|@[UWBS]\w|#[CG]\w)/gi;
const bareMention = /(?<![\w.@])@(?=(?:channel|here|everyone)\b)/gi;

export function withoutPings(text: string): string {
  return text.replace(mention, `<${apart}`).replace(bareMention, `@${apart}`);
}

/** What may still become a mention when more of the text comes: it is not shown yet. */
const undecided = /(?:<[!@#]?\w{0,9}\^?|@\w{0,9}|[\uD800-\uDBFF])$/;

/**
 * As much of a growing text as can be shown for good: what it is for a text is a beginning of what it is for any longer
 * text that begins with it.
 */
export function settledMarkdown(text: string): string {
  return withoutPings(text.replace(undecided, ""));
}
