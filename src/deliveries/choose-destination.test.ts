import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAddress, parseAddress, sameConversation } from "../address/address.ts";
import { conversationKinds, type ConversationKind } from "../address/kind.ts";
import { matches, parsePattern } from "../address/pattern.ts";
import { WaybillError } from "../kernel/errors.ts";
import { chooseDestination, type CrossPostRule, type DestinationQuestion } from "./choose-destination.ts";

const rooms = ["chat:t/a", "chat:t/a/1", "chat:t/b", "chat:t/b/2", "chat:u/a"];
const patterns = [...rooms, "chat:t/*", "chat:*/a", "chat:*/*", "chat:t/a/*"];
const place = fc.constantFrom(...rooms);
const maybe = fc.option(place);
const kinds = fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom(...conversationKinds));
const rule: fc.Arbitrary<CrossPostRule> = fc.record(
  { from: fc.constantFrom(...patterns), to: fc.constantFrom(...patterns) },
  { requiredKeys: ["to"] },
);
const world = fc.record({
  explicit: maybe,
  turn: maybe,
  slots: fc.option(fc.record({ lastActive: maybe, latestSeen: maybe }), { nil: undefined }),
  refused: fc.subarray(rooms),
  crossPost: fc.array(rule, { maxLength: 3 }),
  kinds,
});
type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

const kindOf = (w: World, address: string): ConversationKind =>
  w.kinds[parseAddress(address).conversation] ?? "unknown";

function choose(w: World): { to: string; by: string } | { code: string; details: Record<string, unknown> } {
  try {
    const question: DestinationQuestion = { explicit: w.explicit, turn: w.turn, slots: w.slots };
    const { address, rule: by } = chooseDestination(question, {
      allows: (one) => (w.refused.includes(formatAddress(one)) ? "closed" : true),
      kindOf: (one) => kindOf(w, formatAddress(one)),
      crossPost: w.crossPost,
    });
    return { to: formatAddress(address), by };
  } catch (error) {
    if (error instanceof WaybillError) return { code: error.code, details: error.details };
    throw error;
  }
}

/** The first candidate of the order, which alone counts. */
function firstOf(w: World): { to: string; by: string } | null {
  if (w.explicit !== null) return { to: w.explicit, by: "explicit" };
  if (w.turn !== null) return { to: w.turn, by: "turn" };
  if (w.slots?.lastActive) return { to: w.slots.lastActive, by: "last-active" };
  if (w.slots?.latestSeen) return { to: w.slots.latestSeen, by: "latest-seen" };
  return null;
}

test("the first candidate goes, or is the error: nothing falls through to the next", () => {
  fc.assert(
    fc.property(world, (w) => {
      const first = firstOf(w);
      const chosen = choose(w);
      if (first === null) expect(chosen).toMatchObject({ code: "no_destination" });
      else if (w.refused.includes(first.to)) {
        expect(chosen).toMatchObject({
          code: "destination_not_allowed",
          details: { address: first.to, rule: first.by },
        });
      } else if ("to" in chosen) expect(chosen).toEqual(first);
      else expect(chosen).toMatchObject({ code: "cross_post_not_allowed", details: { address: first.to } });
    }),
    { numRuns: 2_000 },
  );
});

test("inside a turn the slots change nothing", () => {
  fc.assert(
    fc.property(world, place, (w, turn) => {
      expect(choose({ ...w, turn })).toEqual(choose({ ...w, turn, slots: undefined }));
    }),
    { numRuns: 1_000 },
  );
});

test("a refusal inside a turn names the turn's own address", () => {
  fc.assert(
    fc.property(world, place, place, (w, turn, explicit) => {
      const chosen = choose({ ...w, turn, explicit });
      if ("code" in chosen) expect(chosen.details["use"]).toBe(turn);
    }),
    { numRuns: 1_000 },
  );
});

/** True if a rule names both ends as one conversation each. */
function namesBoth({ from, to }: CrossPostRule, source: string, target: string): boolean {
  const names = (pattern: string | undefined, address: string): boolean =>
    pattern !== undefined &&
    !/^[^/]*\*|^[^/]*\/\*/.test(pattern) &&
    matches(parsePattern(pattern), parseAddress(address));
  return names(from, source) && names(to, target);
}

const width = { dm: 0, group: 1, channel: 2, unknown: 3 };

test("another conversation is reached by a rule only; a wider one, or out of a DM, by one that names both ends", () => {
  let crossed = 0;
  fc.assert(
    fc.property(world, place, place, (w, turn, explicit) => {
      const chosen = choose({ ...w, turn, explicit });
      if ("code" in chosen || sameConversation(parseAddress(turn), parseAddress(explicit))) return;
      crossed += 1;
      const [from, to] = [kindOf(w, turn), kindOf(w, explicit)];
      expect(w.crossPost.some((one) => matches(parsePattern(one.to), parseAddress(explicit)))).toBe(true);
      if (from === "channel" && width[to] <= width.channel) return;
      expect(w.crossPost.some((one) => namesBoth(one, turn, explicit))).toBe(true);
    }),
    { numRuns: 4_000 },
  );
  expect(crossed).toBeGreaterThan(50);
});

test("a place of unknown kind may be a direct message: a rule for anywhere does not let its content out", () => {
  const crossPost = [{ to: "chat:t/b" }];
  const base = { explicit: "chat:t/b", turn: "chat:t/a", slots: undefined, refused: [], crossPost };
  expect(choose({ ...base, kinds: { b: "dm" } })).toMatchObject({ code: "cross_post_not_allowed" });
  expect(choose({ ...base, kinds: { a: "channel", b: "dm" } })).toEqual({ to: "chat:t/b", by: "explicit" });
  expect(choose({ ...base, kinds: { a: "channel" } })).toMatchObject({ code: "cross_post_not_allowed" });
});
