import { WaybillError } from "../kernel/errors.ts";
import type { Page } from "./api.ts";

/** Where a list goes on: what it is ordered by, and an id for what is equal. Opaque to clients. */
export type Place = readonly [at: number, id: string];

export function encodePlace(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** @throws WaybillError `invalid_request` */
export function decodePlace(next: string | undefined): Place | undefined {
  if (next === undefined) return undefined;
  try {
    const place = JSON.parse(Buffer.from(next, "base64url").toString()) as unknown;
    if (Array.isArray(place) && place.length === 2) {
      const [at, id] = place as unknown[];
      if (typeof at === "number" && Number.isFinite(at) && typeof id === "string" && !id.includes("\0")) {
        return [at, id];
      }
    }
  } catch {
    // Said below.
  }
  throw badPlace();
}

/** A `next` that is none of this list. */
export function badPlace(): WaybillError {
  const rule = "is not the next of a page of this list";
  return new WaybillError("invalid_request", `next: ${rule}.`, { issues: [{ field: "next", rule }] });
}

/** Where a list that is ordered by age begins: after the page before, else with what is older than `before`. */
export function beforeOf(
  next: string | undefined,
  before: number | undefined,
): { createdAt: number; id: string } | undefined {
  const place = decodePlace(next) ?? (before === undefined ? undefined : ([before, ""] as const));
  return place && { createdAt: place[0], id: place[1] };
}

/** A page of at most `limit` items from up to `limit + 1` that were read. */
export function pageOf<T, W>(
  rows: readonly T[],
  limit: number,
  placeOf: (row: T) => string,
  toWire: (row: T) => W,
): Page<W> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(toWire), next: rows.length > limit && last !== undefined ? placeOf(last) : null };
}
