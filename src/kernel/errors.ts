import { errorCodes, type ErrorCode } from "./error-codes.ts";

/**
 * Every error that a user, an agent or a program can meet. `code` is what code branches on; `message` is for
 * people: it names the field, the rule and the way out, and holds no secret. `details` is JSON that a program
 * may use (the field, the address to use, how long to wait).
 */
export class WaybillError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "WaybillError";
    this.code = code;
    this.details = details;
  }
}

/** The HTTP status of a code, from the one table. */
export function httpStatusOf(code: ErrorCode): number {
  return errorCodes[code].status;
}

/** The exit code of the command line tool for a code, from the same table. */
export function exitCodeOf(code: ErrorCode): number {
  return errorCodes[code].exit;
}

/** Anything thrown, as an error with a code; what is unknown becomes `internal` and keeps its cause. */
export function asWaybillError(thrown: unknown): WaybillError {
  if (thrown instanceof WaybillError) return thrown;
  return new WaybillError(
    "internal",
    "Something went wrong inside the gateway; its log has the cause.",
    {},
    thrown,
  );
}

/** An error as it crosses a thread or a process: plain JSON. */
export interface ErrorRecord {
  code: ErrorCode;
  message: string;
  details: Record<string, unknown>;
}

export function toErrorRecord(error: WaybillError): ErrorRecord {
  return { code: error.code, message: error.message, details: error.details };
}

export function fromErrorRecord(record: ErrorRecord): WaybillError {
  return new WaybillError(record.code, record.message, record.details);
}
