import type { ServerFlags } from "../gateway/environment.ts";
import { pinoLogger, stderrSink } from "../gateway/pino-logger.ts";
import { serveGateway, type ServedGateway } from "../gateway/serve-gateway.ts";
import { asWaybillError, exitCodeOf, type WaybillError } from "../kernel/errors.ts";
import { fail } from "./output.ts";
import { prepare } from "./prepare.ts";
import { settingsOf } from "./run-settings.ts";
import { colours } from "./terminal.ts";

export interface StartFlags extends ServerFlags {
  json?: boolean;
}

/** Starts and stays until a signal or a fatal error. */
export async function startGateway(flags: StartFlags): Promise<void> {
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
  const leave = (code: number): never => {
    sink.flush();
    process.exit(code);
  };
  const onFatal = (error: WaybillError): void => {
    fail(error);
    leave(1);
  };
  const serving = serveGateway(config, settings, { log, onFatal });
  watchSignals(serving, leave);
  const { url, port } = await serving.catch((error: unknown) => {
    // Something may still hold the process: a channel to its parent, a connection to a store.
    fail(error);
    return leave(exitCodeOf(asWaybillError(error).code));
  });
  const ready = { ready: true, url, port, pid: process.pid };
  process.stdout.write(flags.json ? `${JSON.stringify(ready)}\n` : `Waybill is ready: ${url}\n`);
}

/** First signal: a graceful stop, also of one that is still starting, and exit 0. Second signal: leave at once. */
function watchSignals(serving: Promise<ServedGateway>, leave: (code: number) => never): void {
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
