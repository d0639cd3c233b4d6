import { WaybillError } from "../kernel/errors.ts";

/**
 * One component of an address (account, conversation or thread): any platform id, made fit to stand in one line of
 * text between slashes. Encoding is percent-encoding of UTF-8 with upper-case hex (RFC 3986, 2.1), but only of what
 * would be ambiguous or could not be seen; every id has exactly one encoded form.
 */

/** The most that one platform id may have, in UTF-16 code units before encoding. */
export const maxComponentLength = 512;

export const addressForm = "channel:account/conversation or channel:account/conversation/thread";
export const addressExample = "slack:T1/C-oncall or web:main/general/t-1";

/**
 * What is encoded: the two characters of the format itself, `*` (a wildcard in patterns), white space, control
 * characters, and what is invisible or turns the direction of a line. Code points are spelled out instead of
 * `\p{Cf}` and the like, because those grow with each Unicode release and a stored address must stay canonical.
 */
const unsafeRanges = [
  "/%*", // the format's own
  "\\u0000-\\u0020\\u007F-\\u00A0", // controls, space, no-break space
  "\\u1680\\u2000-\\u200F\\u2028-\\u202F\\u205F-\\u206F\\u3000\\uFEFF", // spaces, line ends, joiners, directions
  "\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u3164\\uFE00-\\uFE0F\\uFFA0", // invisible
  "\\uFDD0-\\uFDEF\\uFFF0-\\uFFFB\\uFFFE\\uFFFF", // specials and what is no character
  "\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E0FFF}", // formats and tags outside the first plane
].join("");

const unsafe = new RegExp(`[${unsafeRanges}]`, "gu");

/** Without the `g` flag: `test` on a regular expression with it would remember where it stopped. */
const hasUnsafe = new RegExp(`[${unsafeRanges}]`, "u");

const utf8 = new TextEncoder();

/** Percent-encodes what is unsafe. The text must be well formed. */
export function encodeComponent(id: string): string {
  return hasUnsafe.test(id) ? id.replace(unsafe, percentEncode) : id;
}

function percentEncode(character: string): string {
  let encoded = "";
  for (const byte of utf8.encode(character)) {
    encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

/**
 * The platform id of an encoded component. It takes what is not canonical too; the caller compares.
 * @throws WaybillError `invalid_address`
 */
export function decodeComponent(field: string, encoded: string): string {
  let id: string;
  try {
    id = encoded.includes("%") ? decodeURIComponent(encoded) : encoded;
  } catch {
    throw invalidAddress(
      field,
      `The ${field} "${shown(encoded)}" has a "%" that does not begin the percent-encoding of UTF-8. ` +
        `Write a "%" that is part of an id as "%25".`,
    );
  }
  checkComponent(field, id);
  return id;
}

/** @throws WaybillError `invalid_address` for an id that no address can hold. */
export function checkComponent(field: string, id: string): void {
  if (id === "") throw invalidAddress(field, `The ${field} of an address is empty.`);
  if (id.length > maxComponentLength) {
    throw invalidAddress(
      field,
      `The ${field} of an address has ${id.length} characters; at most ${maxComponentLength} are allowed.`,
    );
  }
  if (!id.isWellFormed()) {
    throw invalidAddress(
      field,
      `The ${field} of an address holds half of a surrogate pair, which is no character.`,
    );
  }
}

/** What somebody sent, cut and encoded so that it can stand in a message. */
export function shown(text: string): string {
  const cut = text.length > 80 ? `${text.slice(0, 80)}...` : text;
  return cut
    .toWellFormed()
    .replace(unsafe, (c) => (c === "/" || c === "%" || c === "*" ? c : percentEncode(c)));
}

export function invalidAddress(
  field: string,
  what: string,
  details: Record<string, unknown> = {},
): WaybillError {
  return new WaybillError(
    "invalid_address",
    `${what} An address is ${addressForm}, such as ${addressExample}.`,
    {
      field,
      ...details,
    },
  );
}
