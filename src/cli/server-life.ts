import { asWaybillError, exitCodeOf } from "../kernel/errors.ts";
import type { Logger } from "../kernel/logger.ts";
import type { ServedGateway } from "../gateway/serve-gateway.ts";
import { fail } from "./output.ts";

/** 128 and the signal's number, as a shell reports it. */
const exitOf = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * How a server process ends. First signal: a graceful stop, also of one that is still starting, and exit 0. Second
 * signal: at once.
 */
export function watchSignals(serving: Promise<ServedGateway>, leave: (code: number) => never): void {
  let signals = 0;
  const stop = (signal: keyof typeof exitOf): void => {
    signals += 1;
    if (signals > 1) leave(exitOf[signal]);
    stopAndLeave(serving, leave, 0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(signal));
  // Under waybill dev it must not outlive its parent, in whatever way that one ended.
  if (process.env["WAYBILL_SUPERVISED"] === "1") process.on("disconnect", () => stop("SIGTERM"));
}

/**
 * Agents run in this process, and one that forgets a promise must not end the runs of all others: that is logged. A throw
 * outside of any promise may have left anything half done: the gateway stops gracefully and exits 1, for a supervisor
 * to start it anew.
 */
export function guardProcess(
  serving: Promise<ServedGateway>,
  log: Logger,
  leave: (code: number) => never,
): void {
  process.on("unhandledRejection", (reason) => {
    log.error(
      { error: textOf(reason) },
      "a promise failed and nobody handled it; look for one that is not awaited in an agent or a tool",
    );
  });
  let thrown = false;
  process.on("uncaughtException", (error) => {
    log.error({ error: textOf(error) }, "something was thrown outside of any run; the gateway stops");
    if (!thrown) stopAndLeave(serving, leave, 1);
    thrown = true;
  });
}

/** The stack tells an operator where it was; texts of people are not in it. */
function textOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

function stopAndLeave(serving: Promise<ServedGateway>, leave: (code: number) => never, code: number): void {
  serving
    .then((served) => served.stop())
    .then(
      () => leave(code),
      (error: unknown) => {
        fail(error);
        leave(exitCodeOf(asWaybillError(error).code));
      },
    );
}
