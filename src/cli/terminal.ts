import { systemClock } from "../kernel/clock.ts";

/** True if a stream shows colours: a terminal, and nobody said no (no-color.org). */
export function colours(stream: { isTTY?: boolean }): boolean {
  if (process.env["NO_COLOR"] !== undefined && process.env["NO_COLOR"] !== "") return false;
  return stream.isTTY === true && process.env["TERM"] !== "dumb";
}

/** Columns of standard output. Where it is no terminal: `COLUMNS`, else 80. */
export function columns(): number {
  const told = Number(process.env["COLUMNS"]);
  const width = process.stdout.columns ?? (Number.isSafeInteger(told) && told > 0 ? told : 80);
  return Math.max(60, width);
}

/** Colours by their ANSI codes. */
const codes = { red: 31, green: 32, yellow: 33, blue: 34, grey: 90, bold: 1 } as const;
export type Colour = keyof typeof codes;

/** The text in a colour where the stream shows colours. */
export function paint(colour: Colour, text: string, stream: { isTTY?: boolean } = process.stdout): string {
  return colours(stream) ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** How long ago a time (ISO 8601) was, rounded down: `12s`, `3m`, `5h`, `2d`; `-` for none. */
export function age(time: string | null | undefined, now = systemClock.now()): string {
  if (time === null || time === undefined) return "-";
  const ms = Math.max(0, now - Date.parse(time));
  if (!Number.isFinite(ms)) return "-";
  for (const [unit, size] of units) if (ms >= size) return `${Math.floor(ms / size)}${unit}`;
  return `${Math.floor(ms / 1_000)}s`;
}

/** How long something took, between two times: `0.4s`, `12s`, `3m`. Null if it has not ended. */
export function span(from: string | null | undefined, to: string | null | undefined): string | null {
  if (!from || !to) return null;
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)}s` : age(from, Date.parse(to));
}

/** Writes lines to standard output. */
export function print(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join("\n")}\n`);
}

/** Writes one JSON document on one line, so that JSON lines are the same thing. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
