import type { IncomingMessage } from "../channel.ts";
import type { Bot } from "./bot.ts";
import { otherOf, type RawMessage, type TelegramFile } from "./read-update.ts";
import { failureOf } from "./telegram-api.ts";

type Part = IncomingMessage["parts"][number];
type LeftOut = NonNullable<IncomingMessage["leftOut"]>[number];

/** What of a message's files an agent can be given, and what not and why. */
export interface TakenFiles {
  parts: Part[];
  leftOut: LeftOut[];
}

interface Wanted {
  file: TelegramFile;
  name: string;
  mediaType: string;
}

/** How long the bytes of one file may take. */
const downloadMs = 60_000;
/** A fault on the way passes; what fails twice is left out. */
const attempts = 2;

/** Fetches the files of messages: Telegram gives their bytes only for the bot's token, so they become part of the message. */
export class Files {
  readonly #bot: Bot;
  /** Messages whose files are being fetched: a repeated update waits for the same. */
  readonly #inHand = new Map<string, Promise<TakenFiles>>();

  constructor(bot: Bot) {
    this.#bot = bot;
  }

  take(raw: RawMessage): Promise<TakenFiles> {
    const other = otherOf(raw);
    const leftOut: LeftOut[] =
      other === null ? [] : [{ name: other, reason: "parts.reason.type", values: { type: other } }];
    const wanted = wantedOf(raw);
    if (wanted === null) return Promise.resolve({ parts: [], leftOut });
    const key = `${raw.chat.id}/${raw.message_id}`;
    const taken = this.#inHand.get(key) ?? this.#take(wanted).finally(() => this.#inHand.delete(key));
    this.#inHand.set(key, taken);
    return taken;
  }

  async #take({ file, name, mediaType }: Wanted): Promise<TakenFiles> {
    const read = await this.#read(file);
    if ("reason" in read) return { parts: [], leftOut: [{ name, ...read }] };
    const url = `data:${mediaType};base64,${read.toString("base64")}`;
    return { parts: [{ type: "file", mediaType, url, filename: name }], leftOut: [] };
  }

  async #read({ file_id: id, file_size: size }: TelegramFile): Promise<Buffer | Omit<LeftOut, "name">> {
    const { settings, ports, api } = this.#bot;
    if ((size ?? 0) > settings.maxFileBytes) return tooLarge(settings.maxFileBytes);
    let why = "";
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      try {
        const { file_path: path } = await api.getFile({ file_id: id });
        if (path === undefined) return tooLarge(settings.maxFileBytes);
        return (await this.#download(path)) ?? tooLarge(settings.maxFileBytes);
      } catch (thrown) {
        if (thrown instanceof Unreadable) why = thrown.message;
        else {
          const failure = failureOf(thrown);
          why = failure.reason;
          if (failure.kind === "refusal") {
            const isLarge = /file is too big/i.test(failure.says);
            if (isLarge) return tooLarge(settings.maxFileBytes);
            break;
          }
        }
      }
    }
    ports.log.warn({ why }, `a file could not be fetched from Telegram: ${why}`);
    return { reason: "parts.reason.unreadable" };
  }

  /** The bytes, or null if there are more than may be kept. */
  async #download(path: string): Promise<Buffer | null> {
    const { settings, ports } = this.#bot;
    const cut = new AbortController();
    const cancel = ports.clock.after(downloadMs, () => cut.abort());
    try {
      const at = path.split("/").map(encodeURIComponent).join("/");
      const url = `${settings.apiRoot}/file/bot${settings.botToken}/${at}`;
      // A redirect is not followed: it would take the token elsewhere.
      const answer = await fetch(url, { redirect: "error", signal: cut.signal });
      if (!answer.ok || answer.body === null) {
        await answer.body?.cancel();
        throw new Unreadable(`its bytes were answered with the HTTP status ${answer.status}`);
      }
      const pieces: Uint8Array[] = [];
      let size = 0;
      for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
        size += piece.byteLength;
        if (size > settings.maxFileBytes) return null;
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    } finally {
      cancel();
    }
  }
}

/** For the log; whoever sent the file does not see it. */
class Unreadable extends Error {}

/** The one file that a message of Telegram can have. An animation is described as a document too. */
function wantedOf(raw: RawMessage): Wanted | null {
  const { photo, animation, document, audio, voice, video, video_note: note, sticker } = raw;
  const largest = photo?.at(-1);
  if (largest) return wanted(largest, "photo.jpg", "image/jpeg");
  if (animation) return wanted(animation, "animation.mp4", "video/mp4");
  if (document) return wanted(document, "file", "application/octet-stream");
  if (audio) return wanted(audio, "audio.mp3", "audio/mpeg");
  if (voice) return wanted(voice, "voice.ogg", "audio/ogg");
  if (video) return wanted(video, "video.mp4", "video/mp4");
  if (note) return wanted(note, "video.mp4", "video/mp4");
  if (sticker)
    return wanted(sticker, `sticker${sticker.emoji ? ` ${sticker.emoji}` : ""}.webp`, "image/webp");
  return null;
}

function wanted(file: TelegramFile, name: string, type: string): Wanted {
  const said = file.mime_type ?? "";
  const mediaType = /^[\w!#$&^.+-]{1,99}\/[\w!#$&^.+-]{1,99}$/.test(said) ? said : type;
  return {
    file,
    name: file.file_name?.trim() ? file.file_name.slice(0, 200).toWellFormed() : name,
    mediaType,
  };
}

function tooLarge(most: number): Omit<LeftOut, "name"> {
  const limit =
    most >= 1_048_576 ? `${Math.round((most / 1_048_576) * 10) / 10} MB` : `${Math.round(most / 1_024)} kB`;
  return { reason: "parts.reason.too_large", values: { limit } };
}
