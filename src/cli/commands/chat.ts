import type { Command } from "commander";
import type { ChatFlags } from "../chat/chat.ts";
import { addServerFlags } from "../server-flags.ts";

export function addChat(program: Command): void {
  addServerFlags(program.command("chat"))
    .description("talk to the agents in this terminal; starts a gateway if none runs here")
    .option("--url <url>", "a running gateway; its token is WAYBILL_TOKEN (WAYBILL_URL)")
    .option("-c, --conversation <id>", "conversation to talk in", "terminal")
    .option("--thread <id>", "thread of it")
    .option("--as <id>", "who speaks")
    .option("--agent <name>", "the agent that answers; else routes choose")
    .addHelpText(
      "after",
      `
Examples:
  waybill chat
  waybill chat -c support --thread t-1 --url https://agents.example.com
  echo "What is running?" | waybill chat --json

In the chat: /stop, /new, /status, /help, /thread <id>, /c <conversation>, /quit.
Ctrl-C once stops the run, twice leaves.`,
    )
    .action(async (flags: ChatFlags) => {
      const { chat } = await import("../chat/chat.ts");
      await chat(flags);
    });
}
