import type { Command } from "commander";
import type { WireStory } from "../../http/api.ts";
import { addClientFlags, pathId, withClient } from "../client-flags.ts";
import type { ClientFlags } from "../client.ts";
import { eventLines, paintState } from "../show-run.ts";
import { oneLine, wrapText } from "../table.ts";
import { columns, paint, print, printJson } from "../terminal.ts";

export function addWhy(program: Command): void {
  addClientFlags(program.command("why"))
    .argument("<id>", "an id of a run, turn, message, delivery or stream, a link to a post, or address#post")
    .description("the whole story of anything: who asked, what ran, where the answer went and why")
    .addHelpText(
      "after",
      `
Examples:
  waybill why run_01a22ea9-f268-755e-8d29-41b58b434642
  waybill why msg_01a22ea9-f26f-7422-a3bc-15b3f286209e --json
  waybill why https://example.slack.com/archives/C1/p1700000000000100`,
    )
    .action((id: string, flags: ClientFlags) => why(id, flags));
}

async function why(id: string, flags: ClientFlags): Promise<void> {
  const story = await withClient(flags, (client) => client.get<WireStory>(`/v1/why/${pathId(idIn(id))}`));
  if (flags.json) printJson(story);
  else print(lines(story));
}

/** The id in a link to one of our own pages; anything else, a platform's permalink too, is asked for as it is. */
function idIn(text: string): string {
  const own = /\b(run|turn|msg|dlv|str|op|trace)_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/.exec(text);
  return own && /^https?:\/\//.test(text) ? own[0] : text.trim();
}

function lines(story: WireStory): string[] {
  const sentences = story.text.flatMap((sentence) =>
    wrapText(oneLine(sentence), columns() - 2).map((line, i) => (i === 0 ? `- ${line}` : `  ${line}`)),
  );
  const timelines = story.runs.flatMap((run) => [
    "",
    `${paint("bold", run.id)} ${paintState(run.state)}`,
    ...eventLines(run.events),
  ]);
  return [...sentences, ...timelines];
}
