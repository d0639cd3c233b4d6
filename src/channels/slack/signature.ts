import { createHmac } from "node:crypto";
import { sameText } from "../../kernel/digest.ts";
import { WaybillError } from "../../kernel/errors.ts";

export const timestampHeader = "x-slack-request-timestamp";
export const signatureHeader = "x-slack-signature";

/** How far the clocks may be apart, and how long a recorded request can be sent again. Seconds. */
const tolerance = 300;

/**
 * Slack's recipe (docs.slack.dev, "Verifying requests from Slack"): `v0=` and the hex HMAC-SHA-256, with the signing
 * secret, of `v0:{timestamp}:{body}` with the body as it came over the wire.
 */
export function sign(secret: string, timestamp: string, body: string | Uint8Array): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex")}`;
}

/**
 * The timestamp of a request that is fresh.
 * @throws WaybillError `invalid_signature`
 */
export function freshTimestamp(headers: Headers, now: number): string {
  const timestamp = headers.get(timestampHeader) ?? "";
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw unsigned(`The header ${timestampHeader} must be the time of sending in seconds since 1970.`);
  }
  const off = Math.abs(now / 1_000 - Number(timestamp));
  if (off <= tolerance) return timestamp;
  throw unsigned(
    `The header ${timestampHeader} is ${Math.round(off)} s off; at most ${tolerance} are allowed. Set the clock of this machine.`,
  );
}

/** @throws WaybillError `invalid_signature` */
export function checkSignature(secret: string, timestamp: string, headers: Headers, body: Uint8Array): void {
  const given = headers.get(signatureHeader) ?? "";
  if (sameText(sign(secret, timestamp, body), given)) return;
  throw unsigned(
    `The header ${signatureHeader} does not fit the body. Set slack.signingSecret to the Signing Secret of the app's page "Basic Information".`,
  );
}

function unsigned(message: string): WaybillError {
  return new WaybillError("invalid_signature", message);
}
