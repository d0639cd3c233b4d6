import type { Command } from "commander";
import { pinoLogger } from "../../gateway/pino-logger.ts";
import type { ServerSettings } from "../../gateway/environment.ts";
import { serveGateway } from "../../gateway/serve-gateway.ts";
import { chatLoop } from "../chat/chat-loop.ts";
import { findServer, remoteClient, type ClientFlags } from "../client.ts";
import { fail } from "../output.ts";
import { prepare } from "../prepare.ts";
import { settingsOf } from "../run-settings.ts";
import { addServerFlags } from "../server-flags.ts";
import { colours } from "../terminal.ts";

interface Flags extends ClientFlags {
  conversation: string;
  thread?: string;
  as?: string;
  agent?: string;
}

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
    .action((flags: Flags) => chat(flags));
}

async function chat(flags: Flags): Promise<void> {
  const settings = prepare(flags);
  const found = await findServer(flags, settings);
  const own = found === null ? await startOwn(flags, settings) : null;
  const url = found ?? own?.url ?? "";
  try {
    await chatLoop(remoteClient(url, settings.token), {
      place: { conversation: flags.conversation, thread: flags.thread ?? null },
      sender: flags.as,
      agent: flags.agent,
      json: flags.json === true,
    });
  } finally {
    await own?.stop();
  }
  // A keep-alive connection or a reader of standard input would hold the process.
  process.exit();
}

/** A gateway in this process, on any free port unless one is named, for as long as the chat lasts. */
async function startOwn(flags: Flags, settings: ServerSettings): ReturnType<typeof serveGateway> {
  const isNamed = flags.port !== undefined || (process.env["WAYBILL_PORT"] ?? "") !== "";
  const isLogged = flags.log !== undefined || (process.env["WAYBILL_LOG"] ?? "") !== "";
  const log = pinoLogger({
    level: isLogged ? settings.logLevel : "warn",
    pretty: process.stderr.isTTY === true,
    colour: colours(process.stderr),
    sink: { write: (line) => void process.stderr.write(line), flush() {} },
  });
  const served = await serveGateway(
    await settingsOf(settings),
    { ...settings, port: isNamed ? settings.port : 0, graceMs: settings.graceMs ?? 2_000 },
    {
      log,
      onFatal: (error) => {
        fail(error);
        process.exit(1);
      },
    },
  );
  process.stderr.write(`No gateway was running here; this chat has started one: ${served.url}\n`);
  return served;
}
