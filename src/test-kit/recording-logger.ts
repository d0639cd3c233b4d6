import type { LogFields, Logger } from "../kernel/logger.ts";

/** One line that a gateway logged. */
export interface LogLine {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  /** With those of the loggers that it came through. */
  fields: LogFields;
}

/** A logger that keeps what it is given in `lines`. */
export function recordingLogger(lines: LogLine[], fields: LogFields = {}): Logger {
  const keep =
    (level: LogLine["level"]) =>
    (more: LogFields, message: string): void => {
      lines.push({ level, message, fields: { ...fields, ...more } });
    };
  return {
    debug: keep("debug"),
    info: keep("info"),
    warn: keep("warn"),
    error: keep("error"),
    child: (more) => recordingLogger(lines, { ...fields, ...more }),
  };
}
