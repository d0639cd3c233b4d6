import { WaybillError } from "../kernel/errors.ts";

/** A body that is too large is read and thrown away up to here, so that its sender gets the answer. Bytes. */
const drainedMost = 64 * 1_048_576;

/** How deep JSON may be nested: nobody needs more, and what walks it later must not run out of stack. */
const deepest = 64;

/**
 * Reads a body of at most `limit` bytes, whether or not its length was announced.
 * @throws WaybillError `body_too_large`, with the rest of the body read, so that the sender is not cut off while writing
 */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? Number.NaN);
  if (announced <= limit) return new Uint8Array(await request.arrayBuffer());
  if (announced > drainedMost) throw tooLarge(limit, false);
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (!reader) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size <= limit) pieces.push(value);
    else pieces.length = 0;
    if (size > drainedMost) {
      await reader.cancel();
      throw tooLarge(limit, false);
    }
  }
  if (size > limit) throw tooLarge(limit, true);
  return Buffer.concat(pieces);
}

function tooLarge(limit: number, drained: boolean): WaybillError {
  return new WaybillError(
    "body_too_large",
    `The body is larger than ${limit} bytes. Send less, or send a file as a link.`,
    { limit, drained },
  );
}

/**
 * Reads a JSON body.
 * @throws WaybillError `unsupported_media_type`, `body_too_large`, `invalid_json`, `invalid_request` (NUL, depth)
 */
export async function readJson(request: Request, limit: number): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new WaybillError(
      "unsupported_media_type",
      `The content-type is ${type === "" ? "missing" : `"${type.slice(0, 80)}"`}; send application/json.`,
      { contentType: type.slice(0, 80) },
    );
  }
  const value = parseJson(await readBytes(request, limit));
  refuseUnstorable(value);
  return value;
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new WaybillError("invalid_json", "The body is not UTF-8.");
  }
  if (text.trim() === "") throw new WaybillError("invalid_json", "The body is empty; send a JSON object.");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(text, cause);
  }
}

/** Where reading stopped stands only in the words of the engine's message, and not in all of them. */
function notJson(text: string, cause: unknown): WaybillError {
  const said = cause instanceof Error ? cause.message : "";
  const found = /at position (\d+)/.exec(said)?.[1] ?? (/end of JSON input/.test(said) ? text.length : null);
  if (found === null) {
    const token = /^Unexpected token '(.)'/u.exec(said)?.[1];
    const what = token === undefined ? "" : `: a ${JSON.stringify(token)} stands where it may not`;
    return new WaybillError("invalid_json", `The body is not JSON${what}.`);
  }
  const position = Number(found);
  const before = text.slice(0, position);
  const line = before.split("\n").length;
  const column = position - before.lastIndexOf("\n");
  return new WaybillError(
    "invalid_json",
    `The body is not JSON: reading stopped at line ${line}, column ${column}.`,
    { position, line, column },
  );
}

/**
 * Refuses what no store could keep or nothing could walk.
 * @throws WaybillError `invalid_request`, with the fields in `issues`
 */
function refuseUnstorable(body: unknown): void {
  const issues: { field: string; rule: string }[] = [];
  const open: { value: unknown; field: string; depth: number }[] = [{ value: body, field: "", depth: 0 }];
  for (let at = open.pop(); at !== undefined && issues.length < 20; at = open.pop()) {
    const { value, field, depth } = at;
    if (typeof value === "string" && value.includes("\0")) issues.push({ field, rule: nulRule });
    if (typeof value !== "object" || value === null) continue;
    if (depth === deepest) {
      issues.push({ field, rule: `JSON may be nested ${deepest} levels deep, not more` });
      continue;
    }
    for (const [name, inner] of Object.entries(value)) {
      const path = Array.isArray(value) ? `${field}[${name}]` : field === "" ? name : `${field}.${name}`;
      if (name.includes("\0")) issues.push({ field: path.replaceAll("\0", "\\u0000"), rule: nulRule });
      open.push({ value: inner, field: path, depth: depth + 1 });
    }
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

export const nulRule = "may not hold the character NUL (U+0000), which cannot be stored";

/** One error for all that is wrong with a request. */
export function invalidRequest(issues: readonly { field: string; rule: string }[]): WaybillError {
  const said = issues.map(({ field, rule }) => (field === "" ? `The body ${rule}` : `${field}: ${rule}`));
  return new WaybillError("invalid_request", `${said.join("; ")}.`, { issues });
}
