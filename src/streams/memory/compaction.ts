import type { StreamEvent } from "../stream.ts";
import { deltaText, samePart, utf8Size, withText } from "./delta.ts";

/**
 * Compaction of a root's log: of its prefix up to an offset, deltas of one part that follow one another in their
 * stream become one event. Other streams may write between them; other events of the same stream part them, so that
 * what a merged event covers is without gap in its stream.
 *
 * Terms: a *piece* is a delta as it was appended. *Cuts* are the places of the pieces in a merged text; with them a
 * read after any offset gives exactly the pieces behind it. A *seam* is an event after which a reader cannot stop,
 * because a later event covers a piece in front of it: a batch never ends at a seam.
 */

/** Piece `k` of a merged event had this offset, and its text ends here. Eight bytes a piece, where an event takes 200. */
export interface Cuts {
  offsets: Uint32Array;
  ends: Uint32Array;
}

export interface Compacted {
  events: StreamEvent[];
  cuts: Map<StreamEvent, Cuts>;
  seams: Set<StreamEvent>;
  /** Bytes of memory that are free now, about. */
  freed: number;
}

/**
 * What an event takes beside its text, in bytes: object, chunk, time, slot. Measured as the heap of Node 24 after
 * garbage collection: 200,000 events of `{type, id, delta}` with five letters took 178 bytes each.
 */
export const eventOverhead = 184;

/** A merged text is at most so long (UTF-16 units), so that merging stays linear and a reader is given pieces it can take. */
const longestMerged = 65_536;

/** Merging begins anew after so many events, so that the events between two places where a batch may end stay few. */
const longestGroup = 256;

interface Run {
  members: StreamEvent[];
  length: number;
  /** Where it stands in the output; it moves to the place of its last member. */
  slot: number;
}

/** Merges what lies at or before `upTo`. The events are as in a log: ascending by offset. Nothing given is changed. */
export function compact(
  events: readonly StreamEvent[],
  cuts: ReadonlyMap<StreamEvent, Cuts>,
  upTo: number,
): Compacted {
  const slots = arrange(events, upTo);
  const result: Compacted = { events: [], cuts: new Map(), seams: new Set(), freed: 0 };
  for (const slot of slots) {
    if (slot === null) continue;
    const single = "members" in slot ? (slot.members.length === 1 ? slot.members[0]! : null) : slot;
    if (single !== null) {
      const known = cuts.get(single);
      if (known) result.cuts.set(single, known);
      result.events.push(single);
    } else {
      addMerged(result, (slot as Run).members, cuts);
    }
  }
  markSeams(result);
  return result;
}

/** Puts events into slots: what belongs together into one run, which stands where its last member stood. */
function arrange(events: readonly StreamEvent[], upTo: number): (StreamEvent | Run | null)[] {
  const slots: (StreamEvent | Run | null)[] = [];
  const runs = new Map<string, Run>();
  let grouped = 0;
  for (const event of events) {
    const text = event.offset > upTo ? null : deltaText(event.chunk);
    if (text === null) {
      runs.delete(event.stream);
      slots.push(event);
      grouped += 1;
    } else {
      const { length } = text;
      const run = runs.get(event.stream);
      if (run && samePart(run.members[0]!.chunk, event.chunk) && run.length + length <= longestMerged) {
        slots[run.slot] = null;
        run.slot = slots.push(run) - 1;
        run.members.push(event);
        run.length += length;
      } else {
        const begun = { members: [event], length, slot: slots.length };
        runs.set(event.stream, begun);
        slots.push(begun);
        grouped += 1;
      }
    }
    if (grouped >= longestGroup) {
      runs.clear();
      grouped = 0;
    }
  }
  return slots;
}

function addMerged(result: Compacted, members: StreamEvent[], cuts: ReadonlyMap<StreamEvent, Cuts>): void {
  const first = members[0]!;
  const last = members.at(-1)!;
  const from = first.from ?? first.seq;
  const pieces = last.seq - from + 1;
  const merged: Cuts = { offsets: new Uint32Array(pieces), ends: new Uint32Array(pieces) };
  const texts: string[] = [];
  let at = 0;
  let length = 0;
  let before = 0;
  let size = 0;
  for (const member of members) {
    const text = deltaText(member.chunk)!;
    const known = cuts.get(member);
    for (let k = 0; k < (known ? known.offsets.length : 1); k += 1, at += 1) {
      merged.offsets[at] = known ? known.offsets[k]! : member.offset;
      merged.ends[at] = length + (known ? known.ends[k]! : text.length);
    }
    texts.push(text);
    length += text.length;
    const bytes = utf8Size(text);
    size += bytes;
    before += eventOverhead + bytes + (known ? 8 * known.offsets.length : 0);
  }
  const event = spanning(last, from, withText(first.chunk, texts.join("")));
  result.events.push(event);
  result.cuts.set(event, merged);
  result.freed += before - (eventOverhead + size + 8 * pieces);
}

function markSeams(result: Compacted): void {
  let first = Infinity;
  for (let i = result.events.length - 1; i >= 0; i -= 1) {
    const event = result.events[i]!;
    if (first <= event.offset) result.seams.add(event);
    const own = result.cuts.get(event)?.offsets[0] ?? event.offset;
    if (own < first) first = own;
  }
}

/** What of an event lies behind an offset: the event itself, or the rest of a merged one. */
export function restAfter(event: StreamEvent, cuts: Cuts | undefined, after: number): StreamEvent {
  if (cuts === undefined || cuts.offsets[0]! > after) return event;
  let low = 0;
  let high = cuts.offsets.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cuts.offsets[middle]! > after) high = middle;
    else low = middle + 1;
  }
  const text = deltaText(event.chunk)!.slice(cuts.ends[low - 1]!);
  return spanning(event, (event.from ?? event.seq) + low, withText(event.chunk, text));
}

function spanning(last: StreamEvent, from: number, chunk: StreamEvent["chunk"]): StreamEvent {
  const { v, root, stream, seq, offset, at } = last;
  return from === seq
    ? { v, root, stream, seq, offset, at, chunk }
    : { v, root, stream, seq, from, offset, at, chunk };
}
