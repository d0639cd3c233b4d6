import type { ServerSettings } from "../../gateway/environment.ts";
import { pinoLogger } from "../../gateway/pino-logger.ts";
import { serveGateway } from "../../gateway/serve-gateway.ts";
import { findServer, remoteClient, type ClientFlags } from "../client.ts";
import { fail } from "../output.ts";
import { prepare } from "../prepare.ts";
import { settingsOf } from "../run-settings.ts";
import { colours } from "../terminal.ts";
import { chatLoop } from "./chat-loop.ts";

export interface ChatFlags extends ClientFlags {
  conversation: string;
  thread?: string;
  as?: string;
  agent?: string;
}

/** Talks to the gateway that is meant, or to one that it starts in this process. */
export async function chat(flags: ChatFlags): Promise<void> {
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
async function startOwn(flags: ChatFlags, settings: ServerSettings): ReturnType<typeof serveGateway> {
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
