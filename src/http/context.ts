import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import type { Logger } from "../kernel/logger.ts";
import { locales, type Locale } from "../texts/render.ts";

/** What a request carries through the app. Node's own objects are there if the gateway's server listens itself. */
export interface HttpEnv {
  Bindings: { incoming?: IncomingMessage; outgoing?: ServerResponse };
  Variables: {
    request: string;
    log: Logger;
    principal: string;
    /** The token for tools that the caller sent, which is still to be found; null: an operator acts. */
    grant: string | null;
    headers: Record<string, string>;
  };
}

export type HttpContext = Context<HttpEnv>;

/** Who acts when no sender is named: whoever passed the door. */
export const operator = "operator";

/** The reader's language: `?locale=`, else the first of ours in `Accept-Language`, else the gateway's. */
export function localeOf(c: HttpContext, fallback: Locale): Locale {
  const named = c.req.query("locale");
  const known = (tag: string | undefined): Locale | undefined =>
    locales.find((locale) => locale === tag?.trim().toLowerCase().split("-")[0]);
  if (named !== undefined) return known(named) ?? fallback;
  const header = c.req.header("accept-language");
  if (header === undefined || header.length > 500) return fallback;
  const wished = header
    .split(",")
    .map((range, order) => {
      const [tag, quality] = range.split(";q=");
      return { locale: known(tag), quality: quality === undefined ? 1 : Number(quality), order };
    })
    .filter((range) => range.locale !== undefined && range.quality > 0)
    .toSorted((a, b) => b.quality - a.quality || a.order - b.order);
  return wished[0]?.locale ?? fallback;
}
