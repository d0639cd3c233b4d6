import { randomBytes } from "node:crypto";
import { sha256 } from "../kernel/digest.ts";
import type { Ids } from "../kernel/ids.ts";

/** A token of ours is known by its beginning, so that doors and logs can tell it from others. */
export const grantPrefix = "wbg_";

/** The form of a token: 256 random bits, base64url. */
const wellFormed = /^wbg_[A-Za-z0-9_-]{43}$/;

/** True if this looks like a token for tools, whoever made it. */
export function isGrantToken(token: string): boolean {
  return token.startsWith(grantPrefix);
}

/** The hash under which a token's grant is stored; null for what is no token of ours. */
export function hashOfToken(token: string): string | null {
  return wellFormed.test(token) ? sha256(token) : null;
}

export interface GrantToken {
  /** The id of the grant. */
  id: string;
  token: string;
  hash: string;
}

/** The tokens that this process has given out. They live in its memory only; the store has their hashes. */
export interface GrantTokens {
  of(holder: string): GrantToken;
}

/** Holders remembered at most; who was not seen for the longest time gets a new token when it comes again. */
const HOLDERS_MOST = 100_000;

/** @param random gives that many random bytes */
export function grantTokens(ids: Ids, random: (count: number) => Buffer = randomBytes): GrantTokens {
  const held = new Map<string, GrantToken>();
  return {
    of(holder) {
      const token = held.get(holder) ?? newToken(ids, random);
      // Set anew, so that the first of the map is the one that was not asked for the longest.
      held.delete(holder);
      held.set(holder, token);
      if (held.size > HOLDERS_MOST) held.delete(held.keys().next().value!);
      return token;
    },
  };
}

function newToken(ids: Ids, random: (count: number) => Buffer): GrantToken {
  const token = `${grantPrefix}${random(32).toString("base64url")}`;
  return { id: ids.next("grant"), token, hash: sha256(token) };
}
