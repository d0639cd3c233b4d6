import { expect, test } from "vitest";
import { formatAddress } from "../../../src/address/address.ts";
import { wordsFor } from "../pages/chat/words.ts";
import { slugOf } from "./names.ts";

test.each([
  ["Weekly Report", "weekly-report"],
  ["주간 보고!", "주간-보고"],
  ["  a/b%c*d  ", "abcd"],
  ["--..x..--", "x"],
  ["\u3164\u115F", ""],
  ["🙂", ""],
  ["How do I -- deploy?", "how-do-i-deploy"],
])("the name %j becomes %j", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test("such a name stands in an address as it is", () => {
  for (const name of ["Weekly Report", "주간 보고", "Ünïcode_1.2", "שלום לכולם", "a\u00ADb\u200Bc"]) {
    const conversation = slugOf(name);
    const address = formatAddress({ channel: "web", account: "main", conversation, thread: null });
    expect(address).toBe(`web:main/${conversation}`);
  }
});

test("words are offered for a slash and the beginning of one, and for nothing else", () => {
  expect(wordsFor("/").map(({ word }) => word)).toEqual(["status", "stop", "new", "help"]);
  expect(wordsFor("/ST").map(({ word }) => word)).toEqual(["status", "stop"]);
  for (const text of ["", "st", "/x", "/stop it", "a /"]) expect(wordsFor(text)).toEqual([]);
});
