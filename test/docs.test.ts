/** The documents say what the code does. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { errorCodes } from "../src/kernel/error-codes.ts";

const errorsFile = path.resolve(import.meta.dirname, "../docs/errors.md");

/**
 * The codes that a text explains: a row of a table or an item of a list that begins with a code in backquotes, or a
 * heading that is one.
 */
function codesExplained(markdown: string): string[] {
  const pattern = /^(?:\|\s*|[-*]\s+|#{1,6}\s+)`([a-z][a-z_]*)`/gm;
  return [...markdown.matchAll(pattern)].map((match) => match[1] ?? "");
}

test("the reader of docs/errors.md sees rows, items and headings, and nothing else", () => {
  const text =
    "# Errors\n\nSee `not_this`.\n\n| code | why |\n| --- | --- |\n| `row` | x `nor_this` |\n- `item`: y\n### `heading`\n";
  expect(codesExplained(text)).toEqual(["row", "item", "heading"]);
});

if (existsSync(errorsFile)) {
  test("docs/errors.md explains each error code exactly once, and no others", () => {
    const explained = codesExplained(readFileSync(errorsFile, "utf8"));
    expect(explained.toSorted()).toEqual(Object.keys(errorCodes).toSorted());
  });
} else {
  test.todo("docs/errors.md explains each error code exactly once, and no others");
}
