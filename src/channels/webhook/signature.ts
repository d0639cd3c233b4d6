import { createHmac } from "node:crypto";
import { sameText } from "../../kernel/digest.ts";
import { WaybillError } from "../../kernel/errors.ts";

export const timestampHeader = "x-waybill-timestamp";
export const signatureHeader = "x-waybill-signature";

/** How far the clock of a sender may be off, and how long a recorded request can be sent again. Seconds. */
const tolerance = 300;

/** `v1=` and the HMAC-SHA-256, in hex, of `v1:{timestamp}:{body}` with the body as it goes over the wire. */
export function sign(secret: string, timestamp: string, body: string | Uint8Array): string {
  const hmac = createHmac("sha256", secret).update(`v1:${timestamp}:`).update(body);
  return `v1=${hmac.digest("hex")}`;
}

/** The two headers of a request that is sent at `now` (milliseconds since 1970). */
export function signedHeaders(secret: string, now: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  return { [timestampHeader]: timestamp, [signatureHeader]: sign(secret, timestamp, body) };
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
  if (off > tolerance) {
    throw unsigned(
      `The header ${timestampHeader} is ${Math.round(off)} s off; at most ${tolerance} are allowed. Set the sender's clock, and sign each attempt anew.`,
    );
  }
  return timestamp;
}

/** @throws WaybillError `invalid_signature` */
export function checkSignature(secret: string, timestamp: string, headers: Headers, body: Uint8Array): void {
  const given = headers.get(signatureHeader) ?? "";
  if (sameText(sign(secret, timestamp, body), given)) return;
  throw unsigned(
    `The header ${signatureHeader} is not "v1=" and the hex HMAC-SHA-256 of "v1:{timestamp}:{body}" with the channel's secret.`,
  );
}

function unsigned(message: string): WaybillError {
  return new WaybillError("invalid_signature", message);
}
