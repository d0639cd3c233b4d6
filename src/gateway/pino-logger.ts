import { pino, type DestinationStream, type Logger as Pino } from "pino";
import type { LogFields, Logger } from "../kernel/logger.ts";
import { redact } from "../kernel/redact.ts";
import type { LogLevel } from "./environment.ts";

/** Fields that hold a secret by their name. Counts (`inputTokens: 12`) are numbers and stay. */
const secretName = /token|secret|passw|authorization|cookie|api[-_]?key|signature|^key$|credential/i;

/** Where lines of log go; `flush` writes what is still held, at once. */
export interface LogSink {
  write: DestinationStream["write"];
  flush(): void;
}

export interface LogOptions {
  level: LogLevel;
  /** One readable line for each entry instead of JSON: for a terminal. */
  pretty: boolean;
  colour: boolean;
  sink: LogSink;
}

/** Standard error as a sink. Lines are written in the background; `flush` before the process leaves. */
export function stderrSink(): LogSink {
  const destination = pino.destination({ dest: 2, sync: false });
  return {
    write: (line) => void destination.write(line),
    flush() {
      try {
        destination.flushSync();
      } catch {
        // Nobody reads standard error any more; there is no other place to say it.
      }
    },
  };
}

/** Structured logs by pino, with the shape of the logger port. What looks like a secret is taken out. */
export function pinoLogger(options: LogOptions): Logger {
  const destination: DestinationStream = options.pretty
    ? { write: (line) => options.sink.write(prettyLine(line, options.colour)) }
    : { write: (line) => options.sink.write(line) };
  return wrap(
    pino({ level: options.level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, destination),
  );
}

function wrap(log: Pino): Logger {
  const at = (level: "debug" | "info" | "warn" | "error") => (fields: LogFields, message: string) => {
    if (log.isLevelEnabled(level)) log[level](clean(fields), message);
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => wrap(log.child(clean(fields))),
  };
}

/** The fields without secrets: by the name of the field, and by the look of a text. */
export function clean(fields: LogFields, depth = 0): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, cleanValue(name, value, depth)]),
  );
}

function cleanValue(name: string, value: unknown, depth: number): unknown {
  if (value instanceof Error) return redact(`${value.name}: ${value.message}`, 1_000);
  if (typeof value === "string") return secretName.test(name) ? "[secret]" : redact(value, 2_000);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= 4) return "[deep]";
  if (Array.isArray(value)) return value.map((one) => cleanValue(name, one, depth + 1));
  return clean(value as LogFields, depth + 1);
}

const levels: Readonly<Record<number, { name: string; colour: number }>> = {
  20: { name: "debug", colour: 90 },
  30: { name: "info ", colour: 32 },
  40: { name: "warn ", colour: 33 },
  50: { name: "error", colour: 31 },
};

/** `12:03:07 info  a run has ended  run=run_… state=completed` */
export function prettyLine(json: string, colour: boolean): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as {
    level: number;
    time: string;
    msg?: string;
    [field: string]: unknown;
  };
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const { name, colour: code } = levels[level] ?? { name: String(level), colour: 0 };
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(
      ([field, value]) =>
        `${paint(90, `${field}=`)}${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
  return [paint(90, time.slice(11, 19)), paint(code, name), msg ?? "", ...rest].join(" ") + "\n";
}
