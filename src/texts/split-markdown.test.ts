import fc from "fast-check";
import { lexer } from "marked";
import { describe, expect, test } from "vitest";
import { cutMarkdown, splitMarkdown } from "./split-markdown.ts";

describe("splitMarkdown", () => {
  test("a text within the limit is one piece, also an empty one", () => {
    expect(splitMarkdown("", 10)).toEqual([""]);
    expect(splitMarkdown("0123456789", 10)).toEqual(["0123456789"]);
  });

  test("it is cut behind the last line end of the second half, else behind white space, else anywhere", () => {
    expect(splitMarkdown("one two\nthree four", 14)).toEqual(["one two\n", "three four"]);
    expect(splitMarkdown("one two three four", 14)).toEqual(["one two three ", "four"]);
    expect(splitMarkdown("abcdefghijklmno", 10)).toEqual(["abcdefghij", "klmno"]);
  });

  test("a code block that is cut is closed, and opened again with its language", () => {
    const code = "```ts\n" + "const a = 1;\n".repeat(8) + "```\nend";
    const pieces = splitMarkdown(code, 60);
    expect(pieces[0]).toBe("```ts\nconst a = 1;\nconst a = 1;\nconst a = 1;\n```");
    expect(pieces[1]).toMatch(/^```ts\nconst a = 1;\n/);
    expect(pieces.at(-1)).toMatch(/```\nend$/);
  });

  test("a fence of another kind within code closes nothing, and code within a line opens nothing", () => {
    const tilde = "~~~~\n" + "```\n".repeat(20) + "~~~~\n";
    for (const piece of splitMarkdown(tilde, 50)) expect(piece).toMatch(/^~~~~\n[^]*~~~~\n?$/);
    expect(splitMarkdown("``` is ```\n" + "word ".repeat(10), 40)[0]).toBe(
      "``` is ```\nword word word word word ",
    );
  });

  const line = fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }) },
    { weight: 2, arbitrary: fc.constantFrom("```", "```ts", "~~~", "````", "  ```", "👨‍👩‍👧‍👦".repeat(6), "") },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 120 }) },
  );
  const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.join("\n"));

  test("any text: the pieces fit, none is empty, and what they have of the text is the text", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 10, max: 200 }), (whole, most) => {
        const pieces = cutMarkdown(whole, most);
        expect(pieces.map(({ raw }) => raw).join("")).toBe(whole);
        for (const { before, raw, after } of pieces) {
          expect(before.length + raw.length + after.length).toBeLessThanOrEqual(most);
          expect(before + after).toMatch(/^(\s*(`{3,}|~{3,})[^]*)?$/);
          if (whole !== "") expect(raw).not.toBe("");
          if (whole.isWellFormed()) expect(raw.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("any text of paragraphs and code: each piece alone has the same code, by a parser of Markdown", () => {
    const word = fc.stringMatching(/^[a-z]{1,9}$/);
    const prose = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "));
    const code = fc
      .tuple(
        fc.constantFrom("```", "~~~", "`````"),
        fc.constantFrom("", "ts"),
        fc.array(word, { minLength: 1 }),
      )
      .map(([mark, language, lines]) => `${mark}${language}\n${lines.join("\n")}\n${mark}`);
    const document = fc.array(fc.oneof(prose, code), { maxLength: 12 }).map((parts) => parts.join("\n\n"));
    fc.assert(
      fc.property(document, fc.integer({ min: 60, max: 200 }), (whole, most) => {
        expect(codeOf(splitMarkdown(whole, most))).toEqual(codeOf([whole]));
      }),
      { numRuns: 200 },
    );
  });

  test("a million characters of code take no time to speak of", () => {
    const pieces = splitMarkdown("```\n" + "x".repeat(79).concat("\n").repeat(12_500) + "```", 3_500);
    expect(pieces.length).toBeLessThan(320);
  });
});

/** The lines of all code of some texts, each read alone. */
function codeOf(texts: string[]): string[] {
  const tokens = texts.flatMap((one) => lexer(one));
  return tokens.flatMap((token) =>
    token.type === "code" ? (token as { text: string }).text.split("\n") : [],
  );
}
