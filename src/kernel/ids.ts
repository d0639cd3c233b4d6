import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

/**
 * What an id names, by its prefix. The rest is a UUIDv7 (RFC 9562): an identity, never an order.
 * Order is `lane_seq`, `event_seq` and `post_seq`.
 */
export type IdPrefix =
  | "turn"
  | "run"
  | "dlv"
  | "op"
  | "msg"
  | "str"
  | "trace"
  | "boot"
  | "evt"
  | "grant"
  | "sched"
  | "appr"
  | "req";

/** A source of new ids; tests pass one that repeats. */
export interface Ids {
  next(prefix: IdPrefix): string;
}

/** Random bytes are fetched in pools: fetching 16 for each id took 6 percent of a busy main thread. */
const pool = new Uint8Array(4_096);
let used = pool.length;

function randomBytes(count: number): Uint8Array {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.slice(used - count, used);
}

/** The milliseconds and the counter of the latest id (RFC 9562, 6.2, method 1): ids of one millisecond count up. */
let msecs = 0;
let seq = 0;

function uuidv7(): string {
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    seq = new DataView(randomBytes(4).buffer).getUint32(0) >>> 1;
  } else {
    seq += 1;
  }
  return v7({ random: randomBytes(16), msecs, seq });
}

export const systemIds: Ids = {
  next: (prefix) => `${prefix}_${uuidv7()}`,
};

/** Ids that count up (`run_00000000-0000-7000-8000-000000000001`), so that a test repeats exactly. */
export function countingIds(): Ids {
  let n = 0;
  return {
    next(prefix) {
      n += 1;
      return `${prefix}_00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
    },
  };
}

/** What is well formed as an id that comes from outside: 1 to 200 of `A-Z a-z 0-9 _ -`. */
export const wellFormedId = /^[A-Za-z0-9_-]{1,200}$/;

/**
 * Another name for the same thing: `run_x` has the stream `str_x` and, if it is the first of its trace, the trace
 * `trace_x`. So a run is found by its stream or trace without an index for each (three of them cost a tenth of a turn).
 */
export function relatedId(id: string, prefix: IdPrefix): string {
  return `${prefix}_${id.slice(id.indexOf("_") + 1)}`;
}
