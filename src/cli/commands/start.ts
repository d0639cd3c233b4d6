import type { Command } from "commander";
import type { ServerFlags } from "../../gateway/environment.ts";
import { pinoLogger, stderrSink } from "../../gateway/pino-logger.ts";
import { serveGateway, type ServedGateway } from "../../gateway/serve-gateway.ts";
import { asWaybillError, exitCodeOf, type WaybillError } from "../../kernel/errors.ts";
import { fail } from "../output.ts";
import { prepare } from "../prepare.ts";
import { settingsOf } from "../run-settings.ts";
import { addServerFlags } from "../server-flags.ts";
import { colours } from "../terminal.ts";

interface StartFlags extends ServerFlags {
  json?: boolean;
}

export function addStart(program: Command): void {
  addServerFlags(program.command("start"))
    .description("start the gateway here; without a settings file a built-in guide answers")
    .addHelpText(
      "after",
      `
Examples:
  waybill start                            the settings of this folder, on port 8787
  waybill start --port 0 --data /var/lib/waybill
  WAYBILL_MODEL=openai/gpt-5 waybill start  a model answers, no settings needed

SIGTERM or Ctrl-C stops it: runs may end within the grace, a second signal leaves at once.`,
    )
    .action((flags: StartFlags) => start(flags));
}

/** Starts and stays until a signal or a fatal error. */
async function start(flags: StartFlags): Promise<void> {
  const settings = prepare(flags);
  const sink = stderrSink();
  const log = pinoLogger({
    level: settings.logLevel,
    pretty: process.stderr.isTTY === true,
    colour: colours(process.stderr),
    sink,
  });
  const config = await settingsOf(settings);
  if (settings.redisUrl !== undefined) {
    log.warn(
      {},
      "WAYBILL_REDIS_URL is not used by this version: streams are kept in the memory of this process",
    );
  }
  const leave = (code: number): void => {
    sink.flush();
    process.exit(code);
  };
  const onFatal = (error: WaybillError): void => {
    fail(error);
    leave(1);
  };
  const serving = serveGateway(config, settings, { log, onFatal });
  watchSignals(serving, leave);
  const { url, port } = await serving;
  const ready = { ready: true, url, port, pid: process.pid };
  process.stdout.write(flags.json ? `${JSON.stringify(ready)}\n` : `Waybill is ready: ${url}\n`);
}

/** First signal: a graceful stop, also of one that is still starting, and exit 0. Second signal: leave at once. */
function watchSignals(serving: Promise<ServedGateway>, leave: (code: number) => void): void {
  let signals = 0;
  const stop = (signal: NodeJS.Signals): void => {
    signals += 1;
    // 128 and the signal's number, as a shell reports it.
    if (signals > 1) leave(signal === "SIGINT" ? 130 : 143);
    else
      serving
        .then((served) => served.stop())
        .then(
          () => leave(0),
          (error: unknown) => {
            fail(error);
            leave(exitCodeOf(asWaybillError(error).code));
          },
        );
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  // Under waybill dev it must not outlive its parent, in whatever way that one ended.
  if (process.env["WAYBILL_SUPERVISED"] === "1") process.on("disconnect", () => stop("SIGTERM"));
}
