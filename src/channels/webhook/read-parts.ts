import { z } from "zod";
import type { IncomingMessage } from "../channel.ts";

type Part = IncomingMessage["parts"][number];
type LeftOut = NonNullable<IncomingMessage["leftOut"]>[number];

export interface ReadParts {
  parts: Part[];
  leftOut: LeftOut[];
}

/** No store keeps a NUL, nor half of a surrogate pair. */
const storable = z
  .string()
  .refine((value) => !value.includes("\0"))
  .transform((value) => value.toWellFormed());

const fileShape = z.object({
  url: storable,
  mediaType: storable.pipe(z.string().max(200)).optional(),
  filename: storable.pipe(z.string().max(1_000)).optional(),
  name: storable.pipe(z.string().max(1_000)).optional(),
});

const textShape = z.object({ type: z.literal("text"), text: storable });

/**
 * What of a message's parts and files an agent can be given: texts, and files by data URL or https link, which are
 * handed through. Everything else is left out, with its name and why.
 */
export function readParts(text: string, given: readonly unknown[], files: readonly unknown[]): ReadParts {
  const read: ReadParts = { parts: [], leftOut: [] };
  for (const part of given) {
    const said = textShape.safeParse(part);
    if (said.success) read.parts.push({ type: "text", text: said.data.text });
    else if (typeOf(part) === "file") readFile(part, read);
    else
      read.leftOut.push({ name: nameOf(part), reason: "parts.reason.type", values: { type: typeOf(part) } });
  }
  for (const file of files) readFile(file, read);
  const saysText = read.parts.some((part) => part.type === "text");
  if (!saysText && text !== "") read.parts.unshift({ type: "text", text });
  return read;
}

function readFile(file: unknown, read: ReadParts): void {
  const shaped = fileShape.safeParse(file);
  if (!shaped.success) {
    read.leftOut.push({ name: nameOf(file), reason: "parts.reason.unreadable" });
    return;
  }
  const { url, mediaType, filename, name } = shaped.data;
  const reason = whyNot(url);
  if (reason !== null) {
    read.leftOut.push({ name: nameOf(file), reason });
    return;
  }
  const called = filename ?? name;
  const type = mediaType ?? /^data:([^;,]+)/i.exec(url)?.[1] ?? "application/octet-stream";
  read.parts.push({
    type: "file",
    mediaType: type,
    url,
    ...(called === undefined ? {} : { filename: called }),
  });
}

/** RFC 2397, as far as files need it: a media type with parameters, base64 or percent-encoded data. */
const dataUrl = /^data:[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;[\w!#$&^.+-]+=[^;,]*)*(;base64)?,/i;
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function whyNot(url: string): LeftOut["reason"] | null {
  if (/^data:/i.test(url)) {
    const head = dataUrl.exec(url);
    if (!head) return "parts.reason.unreadable";
    return head[2] === undefined || base64.test(url.slice(head[0].length)) ? null : "parts.reason.unreadable";
  }
  return URL.canParse(url) && new URL(url).protocol === "https:" ? null : "parts.reason.link";
}

function typeOf(part: unknown): string {
  const { type } = (part ?? {}) as { type?: unknown };
  return typeof type === "string" ? shown(type) : "?";
}

/** Somebody's text, short enough and fit to be stored and read. */
function shown(said: string): string {
  return said.slice(0, 200).replaceAll("\0", "").toWellFormed();
}

/** What people call it: its name, the end of its link, or its type. */
function nameOf(part: unknown): string {
  const { filename, name, url } = (part ?? {}) as Record<string, unknown>;
  const called = [filename, name].find((one) => typeof one === "string" && one !== "") as string | undefined;
  if (called !== undefined) return shown(called);
  if (typeof url === "string" && URL.canParse(url) && !url.startsWith("data:")) {
    return shown(new URL(url).pathname.split("/").at(-1) || new URL(url).host);
  }
  return typeOf(part);
}
