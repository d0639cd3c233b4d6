/** True if a stream shows colours: a terminal, and nobody said no (no-color.org). */
export function colours(stream: { isTTY?: boolean }): boolean {
  if (process.env["NO_COLOR"] !== undefined && process.env["NO_COLOR"] !== "") return false;
  return stream.isTTY === true && process.env["TERM"] !== "dumb";
}
