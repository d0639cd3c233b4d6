import { sameText } from "../../kernel/digest.ts";
import { WaybillError } from "../../kernel/errors.ts";
import type { Bot } from "./bot.ts";
import type { Dispatcher } from "./dispatch.ts";

/** Bytes of one update; Telegram's own have a few thousand. */
export const bodyLimit = 1_048_576;

export const secretHeader = "x-telegram-bot-api-secret-token";

/**
 * Takes one update of the webhook in. Path and secret are checked before anything of it is read, and it is acknowledged
 * after the commit. Telegram reads only the status, and repeats what is not 2xx; the body is for whoever tests us.
 * @throws WaybillError `not_found` (another path or account), `method_not_allowed`, `invalid_signature`,
 *   `body_too_large`, `invalid_json`, and what `Dispatcher.dispatch` throws
 */
export async function receive(
  bot: Bot,
  secret: string,
  dispatcher: Dispatcher,
  request: Request,
): Promise<Response> {
  checkPath(bot, request);
  const given = request.headers.get(secretHeader) ?? "";
  if (!sameText(secret, given)) {
    throw new WaybillError(
      "invalid_signature",
      `The header ${secretHeader} is not the secret of telegram.webhook. Give Telegram the same one: setWebhook with secret_token.`,
    );
  }
  return Response.json(await dispatcher.dispatch(parseJson(await readBody(request))));
}

/** The path of a bot's webhook. */
export function webhookPath(account: string): string {
  return `/channels/telegram/${encodeURIComponent(account)}`;
}

/** Two bots may have one secret, so where there are two, the path has to say which is meant. */
function checkPath({ settings, ports }: Bot, request: Request): void {
  const path = new URL(request.url).pathname;
  const found = /\/channels\/telegram(?:\/([^/]*))?\/?$/.exec(path);
  const named = found?.[1] ?? "";
  if (!found || (named === "" ? ports.alone !== true : named !== encodeURIComponent(settings.account))) {
    throw new WaybillError(
      "not_found",
      `There is no bot at this path; updates go to ${webhookPath("{account}")}.`,
    );
  }
  if (request.method === "POST") return;
  throw new WaybillError("method_not_allowed", `Telegram sends updates to ${path.slice(0, 200)} by POST.`, {
    allow: ["POST"],
  });
}

async function readBody(request: Request): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  const body = announced > bodyLimit ? null : new Uint8Array(await request.arrayBuffer());
  if (body !== null && body.byteLength <= bodyLimit) return body;
  throw new WaybillError("body_too_large", `The body is larger than ${bodyLimit} bytes.`, {
    limit: bodyLimit,
  });
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new WaybillError("invalid_json", "The body is not JSON in UTF-8.");
  }
}
