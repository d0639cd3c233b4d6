import fc from "fast-check";
import { expect, test } from "vitest";
import { asLine, lineBytes, splitLines } from "./split-lines.ts";

const texts = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 2_000 }),
  fc.array(fc.string({ unit: "binary", maxLength: 600 }), { maxLength: 6 }).map((lines) => lines.join("\n")),
);

test("joined, the pieces are the text; each is one line that fits, and shows something but for white space", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const pieces = splitLines(text);
      expect(pieces.join("")).toBe(text);
      for (const piece of pieces) {
        expect(piece.replace(/\s*$/u, "")).not.toContain("\n");
        const oneCharacter = [...new Intl.Segmenter().segment(piece.trim())].length <= 1;
        expect(oneCharacter || Buffer.byteLength(piece.replace(/[\r\n]+$/, "")) <= lineBytes).toBe(true);
        expect(asLine(piece)).not.toMatch(/[\r\n\0]/);
      }
    }),
  );
});

test("an empty line is not a post of its own, and a long line is cut behind a space", () => {
  expect(splitLines("one\n\n\ntwo")).toEqual(["one\n\n\n", "two"]);
  const [first, second] = splitLines(`${"word ".repeat(100)}`);
  expect([first?.endsWith("word "), second?.startsWith("word ")]).toEqual([true, true]);
  expect(splitLines("")).toEqual([""]);
});
