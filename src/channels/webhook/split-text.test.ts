import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitText } from "./split-text.ts";

describe("splitText", () => {
  test("a text within the limit is one piece, also an empty one", () => {
    expect(splitText("hello", 10)).toEqual(["hello"]);
    expect(splitText("0123456789", 10)).toEqual(["0123456789"]);
    expect(splitText("", 10)).toEqual([""]);
  });

  test("it is cut behind the last line end of the second half, else behind white space", () => {
    expect(splitText("one two\nthree four", 14)).toEqual(["one two\n", "three four"]);
    expect(splitText("one two three four", 14)).toEqual(["one two three ", "four"]);
    // A line end in the first half would leave a piece half empty.
    expect(splitText("a\nb cdefgh ijklmnopq", 14)).toEqual(["a\nb cdefgh ", "ijklmnopq"]);
  });

  test("one long word is cut hard, and CR LF stays together", () => {
    expect(splitText("abcdefghijklmno", 10)).toEqual(["abcdefghij", "klmno"]);
    expect(splitText("aaaaaaaaa\r\nbbb", 10)).toEqual(["aaaaaaaaa", "\r\nbbb"]);
  });

  test("an emoji with its parts, a flag and a letter with its accent are not cut", () => {
    const family = "👨‍👩‍👧‍👦";
    expect(splitText(`abcde${family}z`, 12)).toEqual(["abcde", `${family}z`]);
    expect(splitText(`abcdefghi${"🇰🇷"}z`, 10)).toEqual(["abcdefghi", "🇰🇷z"]);
    expect(splitText("abcdefghie\u0301z", 10)).toEqual(["abcdefghi", "e\u0301z"]);
    expect(splitText(`${family}${family}${family}`, 12)).toEqual([family, family, family]);
  });

  test("any text: the pieces fit, none is empty, joined they are the text, and no pair is broken", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("\n", " ", "\r\n", "👨‍👩‍👧‍👦", "e\u0301", "🇰🇷🇰🇷", "\u200d", "x".repeat(30)),
    );
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, fc.integer({ min: 10, max: 60 }), (whole, most) => {
        const pieces = splitText(whole, most);
        expect(pieces.join("")).toBe(whole);
        for (const one of pieces) expect(one.length).toBeLessThanOrEqual(most);
        if (whole !== "") expect(pieces).not.toContain("");
        if (whole.isWellFormed()) expect(pieces.every((one) => one.isWellFormed())).toBe(true);
      }),
    );
  });

  test("a million characters take no time to speak of", () => {
    expect(splitText("x".repeat(1_000_000), 4_000)).toHaveLength(250);
  });
});
