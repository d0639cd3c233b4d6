import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Address, formatAddress, parentOf, parseAddress, sameAddress } from "./address.ts";
import { encodeComponent } from "./component.ts";
import { matches, namesOneConversation, parsePattern } from "./pattern.ts";

/** Few ids, so that two addresses often have some in common, and among them those that look like patterns. */
const anyId = fc.constantFrom("a", "b", "*", "/", "%2A", "한");
const anyAddress: fc.Arbitrary<Address> = fc.record({
  channel: fc.constantFrom("web", "slack"),
  account: anyId,
  conversation: anyId,
  thread: fc.option(anyId),
});

const places = [
  "web:main/general",
  "web:main/general/t-1",
  "web:main/general/t-2",
  "web:main/random",
  "web:main/random/t-1",
  "web:other/general",
  "slack:main/general",
  "web:main/%2A",
].map(parseAddress);

describe("which places a pattern names", () => {
  test.each([
    ["web:main/general", ["web:main/general", "web:main/general/t-1", "web:main/general/t-2"]],
    ["web:main/general/t-1", ["web:main/general/t-1"]],
    ["web:main/general/*", ["web:main/general/t-1", "web:main/general/t-2"]],
    ["web:main/*/t-1", ["web:main/general/t-1", "web:main/random/t-1"]],
    [
      "web:*/general",
      ["web:main/general", "web:main/general/t-1", "web:main/general/t-2", "web:other/general"],
    ],
    ["slack:*/*", ["slack:main/general"]],
    ["web:main/%2A", ["web:main/%2A"]],
    ["web:other/*", ["web:other/general"]],
    ["telegram:*/*", []],
  ])("%s", (pattern, named) => {
    const found = places.filter((place) => matches(parsePattern(pattern), place)).map(formatAddress);
    expect(found).toEqual(named);
  });

  test("the text of any address names that place, and of a conversation its threads too", () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, (address, other) => {
        const exact = parsePattern(formatAddress(address));
        expect(matches(exact, address)).toBe(true);
        expect(matches(parsePattern(formatAddress(parentOf(address))), address)).toBe(true);
        expect(matches(exact, other)).toBe(
          sameAddress(address, address.thread === null ? parentOf(other) : other),
        );
      }),
      { numRuns: 1000 },
    );
  });

  test("an account's pattern names all of its places and none of another account", () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, (address, other) => {
        const pattern = parsePattern(`${address.channel}:${encodeComponent(address.account)}/*`);
        expect(matches(pattern, address)).toBe(true);
        expect(matches(pattern, other)).toBe(
          address.channel === other.channel && address.account === other.account,
        );
      }),
      { numRuns: 1000 },
    );
  });
});

test.each([
  ["web:main/general", true],
  ["web:main/general/*", true],
  ["web:main/*", false],
  ["web:*/general", false],
])("%s names one conversation: %s", (pattern, one) => {
  expect(namesOneConversation(parsePattern(pattern))).toBe(one);
});

test.each([
  ["", "channel"],
  ["*", "channel"],
  ["*:main/general", "channel"],
  ["web:*", "conversation"],
  ["web:main/gen*", "conversation"],
  ["web:main/**", "conversation"],
  ["web:main/general/", "thread"],
  ["web:main/general/*/x", "thread"],
  ["web:main/a b", "conversation"],
  ["web:main/%2a", "conversation"],
])("%j is no pattern", (text, field) => {
  expect(() => parsePattern(text)).toThrow(
    expect.objectContaining({
      code: "invalid_address",
      details: expect.objectContaining({ field }),
    }),
  );
});
