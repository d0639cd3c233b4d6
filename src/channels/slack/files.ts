import { z } from "zod";
import type { IncomingMessage } from "../channel.ts";
import type { SlackMessage } from "./read-event.ts";
import type { SlackSettings } from "./slack-settings.ts";
import type { Workspace } from "./workspace.ts";

type Part = IncomingMessage["parts"][number];
type LeftOut = NonNullable<IncomingMessage["leftOut"]>[number];

/** What of a message's files an agent can be given, and what not and why. */
export interface TakenFiles {
  parts: Part[];
  leftOut: LeftOut[];
}

/** Files of one message; Slack takes as many. */
const mostFiles = 10;

const storable = z.string().transform((text) => text.replaceAll("\0", "").toWellFormed());

const shape = z.object({
  name: storable.pipe(z.string().min(1).max(1_000)).nullish(),
  mimetype: z
    .string()
    .regex(/^[\w!#$&^.+-]{1,99}\/[\w!#$&^.+-]{1,99}$/)
    .nullish()
    .catch(null),
  size: z.number().nonnegative().nullish().catch(null),
  is_external: z.boolean().nullish().catch(null),
  url_private: z.string().max(4_000),
});
type SlackFile = z.infer<typeof shape>;

/**
 * Fetches the files of messages, with the bot's token and only from Slack. Together they may have `maxFileBytes`; a
 * file that does not fit is left out with the reason.
 */
export class Files {
  readonly #workspace: Workspace;
  /** Messages whose files are being fetched: a repeated event and a mention twin wait for the same. */
  readonly #inHand = new Map<string, Promise<TakenFiles>>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  take({ conversation, ts, files }: SlackMessage): Promise<TakenFiles> {
    if (files.length === 0) return Promise.resolve({ parts: [], leftOut: [] });
    const key = JSON.stringify([conversation, ts]);
    const taken = this.#inHand.get(key) ?? this.#take(files).finally(() => this.#inHand.delete(key));
    this.#inHand.set(key, taken);
    return taken;
  }

  async #take(files: readonly unknown[]): Promise<TakenFiles> {
    const { ports, settings } = this.#workspace;
    const late = new AbortController();
    const cancel = ports.clock.after(settings.timeoutMs, () => late.abort());
    const taken: TakenFiles = { parts: [], leftOut: [] };
    let room = settings.maxFileBytes;
    try {
      // One after the other, so that never more is held than may be kept.
      for (const [n, file] of files.entries()) {
        const name = nameOf(file);
        const read = n < mostFiles ? await this.#read(file, room, late.signal) : tooMany;
        if ("reason" in read) taken.leftOut.push({ name, ...read });
        else {
          room -= read.bytes;
          taken.parts.push(read.part);
        }
      }
    } finally {
      cancel();
    }
    return taken;
  }

  async #read(
    file: unknown,
    room: number,
    signal: AbortSignal,
  ): Promise<{ part: Part; bytes: number } | Omit<LeftOut, "name">> {
    const { settings, ports } = this.#workspace;
    const shaped = shape.safeParse(file);
    if (!shaped.success) return { reason: "parts.reason.unreadable" };
    const { url_private: url, mimetype, size, name } = shaped.data;
    const mediaType = mimetype ?? "application/octet-stream";
    const called = name ? { filename: name } : {};
    // It lies elsewhere (a document in somebody's drive): its link is handed on and never followed.
    if (shaped.data.is_external && url.startsWith("https://")) {
      return { part: { type: "file", mediaType, url, ...called }, bytes: 0 };
    }
    if (!mayHaveToken(url, settings)) {
      ports.log.warn({ host: hostOf(url) }, "a file of Slack lies at another host, and was not fetched");
      return { reason: "parts.reason.unreadable" };
    }
    if ((size ?? 0) > room) return tooLarge(settings);
    try {
      const bytes = await fetchBytes(url, settings.botToken, room, shaped.data, signal);
      if (bytes === null) return tooLarge(settings);
      const data = `data:${mediaType};base64,${bytes.toString("base64")}`;
      return { part: { type: "file", mediaType, url: data, ...called }, bytes: bytes.byteLength };
    } catch (thrown) {
      const why = thrown instanceof Unreadable ? thrown.message : "the connection failed or took too long";
      ports.log.warn({ why }, `a file of Slack could not be read: ${why}`);
      return { reason: "parts.reason.unreadable" };
    }
  }
}

/** For the log; nobody who sent the file sees it. */
class Unreadable extends Error {}

/** The bytes, or null if there are more than `room`. */
async function fetchBytes(
  url: string,
  token: string,
  room: number,
  { mimetype }: SlackFile,
  signal: AbortSignal,
): Promise<Buffer | null> {
  // A redirect is not followed: it may lead away from Slack.
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    redirect: "manual",
    signal,
  });
  const isPage =
    (answer.headers.get("content-type") ?? "").startsWith("text/html") && mimetype !== "text/html";
  if (!answer.ok || answer.body === null || isPage) {
    await answer.body?.cancel();
    // Without the right to read files Slack sends its own page to log in.
    const why = isPage || answer.status === 302 ? "; does the bot have the scope files:read?" : "";
    throw new Unreadable(`Slack answered with the HTTP status ${answer.status}${why}`);
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
    size += piece.byteLength;
    if (size > room) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The token goes to Slack, and to the place that the setting `apiUrl` names, and nowhere else. */
export function mayHaveToken(url: string, { apiUrl }: Pick<SlackSettings, "apiUrl">): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, origin, username, password, port } = new URL(url);
  if (username !== "" || password !== "") return false;
  const api = new URL(apiUrl);
  if (origin === api.origin) return true;
  if (protocol !== "https:" || port !== "") return false;
  return [api.hostname, "slack.com"].some((host) => hostname === host || hostname.endsWith(`.${host}`));
}

const tooMany = { reason: "parts.reason.too_many", values: { limit: mostFiles } } as const;

function tooLarge({ maxFileBytes }: SlackSettings): Omit<LeftOut, "name"> {
  const limit =
    maxFileBytes >= 1_048_576 ? `${round(maxFileBytes / 1_048_576)} MB` : `${round(maxFileBytes / 1_024)} kB`;
  return { reason: "parts.reason.too_large", values: { limit } };
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host.slice(0, 200) : "?";
}

function nameOf(file: unknown): string {
  const name = typeof file === "object" && file !== null ? (file as { name?: unknown }).name : null;
  if (typeof name !== "string" || name === "") return "a file";
  return name.slice(0, 200).replaceAll("\0", "").toWellFormed();
}
