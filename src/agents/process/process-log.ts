import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/logger.ts";
import { redact } from "../../kernel/redact.ts";

/** Lines of standard error that are logged in each window; the rest is counted. */
const LINES_MOST = 100;
const WINDOW_MS = 10_000;
/** A shorter value is a word that stands in many lines, and no secret. */
const SECRET_LEAST = 6;

/**
 * Takes the lines of a process's standard error to the log: without the values of the variables that it was given by
 * name, without what looks like a secret, cut, and not more than the log can bear.
 */
export function processLog(log: Logger, clock: Clock, secrets: readonly string[]): (line: string) => void {
  const hidden = secrets
    .filter((value) => value.length >= SECRET_LEAST)
    .toSorted((a, b) => b.length - a.length);
  let since = clock.now();
  let lines = 0;
  return (line) => {
    if (clock.now() - since >= WINDOW_MS) {
      since = clock.now();
      lines = 0;
    }
    lines += 1;
    if (lines === LINES_MOST + 1)
      log.warn({}, "an agent's process says more on standard error than is logged");
    if (lines > LINES_MOST) return;
    let text = line;
    for (const value of hidden) text = text.replaceAll(value, "[secret]");
    log.info({ stderr: redact(text) }, "an agent's process says on standard error");
  };
}
