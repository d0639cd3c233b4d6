/**
 * The logger that everything is given. Fields carry ids (`turn`, `run`, `stream`, `delivery`), never texts that
 * people wrote and never secrets. The gateway passes pino, which has this shape.
 */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}

export type LogFields = Record<string, unknown>;

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};
