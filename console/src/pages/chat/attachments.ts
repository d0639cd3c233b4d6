import type { WireMessagePart } from "../../../../src/http/api.ts";

export type FilePart = Extract<WireMessagePart, { type: "file" }>;

/**
 * What a message may weigh as JSON, in bytes. A gateway takes 1 MiB unless it is set otherwise; the frame around the
 * parts is small.
 */
export const messageBytesMost = 1_040_000;

/** Reads files as parts of a message: data URLs, which stay within it. @throws if a file cannot be read */
export function readFiles(files: Iterable<File>): Promise<FilePart[]> {
  return Promise.all(Array.from(files, readFile));
}

async function readFile(file: File): Promise<FilePart> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result as string));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("The file could not be read.")));
    reader.readAsDataURL(file);
  });
  const mediaType = file.type === "" ? "application/octet-stream" : file.type;
  const name = file.name.slice(0, 255);
  return {
    type: "file",
    mediaType,
    url: withType(url, mediaType),
    ...(name === "" ? {} : { filename: name }),
  };
}

/** A file of no known type gets one, so that the URL says the same as the part. */
function withType(url: string, mediaType: string): string {
  return url.replace(/^data:[^;,]*/, `data:${mediaType}`);
}

const utf8 = new TextEncoder();

export function bytesOf(text: string, files: readonly FilePart[]): number {
  return utf8.encode(JSON.stringify(text)).length + files.reduce((sum, { url }) => sum + url.length + 200, 0);
}

/** The bytes that a data URL stands for; null for a link. */
export function fileBytes(url: string): number | null {
  const comma = url.indexOf(",");
  if (!url.startsWith("data:") || comma < 0) return null;
  const length = url.length - comma - 1;
  return url.slice(0, comma).endsWith(";base64") ? Math.floor((length * 3) / 4) : length;
}

/** "12 kB", in the reader's language. */
export function sizeText(locale: string, bytes: number): string {
  const [unit, amount] =
    bytes < 1e6 ? (["kilobyte", bytes / 1e3] as const) : (["megabyte", bytes / 1e6] as const);
  const digits = amount < 10 ? 1 : 0;
  return new Intl.NumberFormat(locale, { style: "unit", unit, maximumFractionDigits: digits }).format(
    Math.max(0.1, amount),
  );
}
