import type { ServerFlags } from "../gateway/environment.ts";
import { pinoLogger, stderrSink } from "../gateway/pino-logger.ts";
import { serveGateway } from "../gateway/serve-gateway.ts";
import { asWaybillError, exitCodeOf, type WaybillError } from "../kernel/errors.ts";
import { fail } from "./output.ts";
import { prepare } from "./prepare.ts";
import { settingsOf } from "./run-settings.ts";
import { guardProcess, watchSignals } from "./server-life.ts";
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
  guardProcess(serving, log, leave);
  const { url, port } = await serving.catch((error: unknown) => {
    // Something may still hold the process: a channel to its parent, a connection to a store.
    fail(error);
    return leave(exitCodeOf(asWaybillError(error).code));
  });
  // Whoever reads standard output may go once it has read where the gateway serves.
  process.stdout.removeAllListeners("error").on("error", () => {});
  const ready = { ready: true, url, port, pid: process.pid };
  process.stdout.write(flags.json ? `${JSON.stringify(ready)}\n` : `Waybill is ready: ${url}\n`);
}
