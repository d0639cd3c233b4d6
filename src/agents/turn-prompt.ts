import type { RunContext } from "./agent.ts";

/**
 * The text of a turn as an agent that reads prompts is given it: what was asked, then `reply_to=` and the signed echo of
 * its address, which the agent hands back to tools as `turn_conversation`. The line is the last one, so that one like it
 * in what people wrote is not taken for it. `preface` comes before the text.
 */
export function turnPrompt(ctx: Pick<RunContext, "text" | "echo">, preface = ""): string {
  return [preface, ctx.text, `reply_to=${ctx.echo}`].filter((piece) => piece !== "").join("\n\n");
}

/** What such an agent has to know of that line; it belongs into its instructions. */
export const replyToRule =
  "The line reply_to=... at the end of the newest message is the address where this turn's answer is due. Hand it back\n" +
  "unchanged where a tool asks for `turn_conversation`. Do not show it to people.";
