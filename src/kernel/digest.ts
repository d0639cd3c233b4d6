import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** SHA-256 of UTF-8 text, base64url. */
export function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** HMAC-SHA-256, base64url. */
export function hmac(key: string | Uint8Array, text: string | Uint8Array): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** Compares two texts in a time that does not depend on where they differ. */
export function sameText(a: string, b: string): boolean {
  const left = createHash("sha256").update(a).digest();
  const right = createHash("sha256").update(b).digest();
  return timingSafeEqual(left, right);
}

/** JSON with the keys of objects in order, so that equal values give equal texts. `undefined` fields are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return inner;
    const fields = inner as Record<string, unknown>;
    return Object.fromEntries(
      Object.keys(fields)
        .toSorted()
        .map((key) => [key, fields[key]]),
    );
  });
}
