import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatMarkdown } from "./format.ts";

/** The text with each mark around what it marks. */
function shown(markdown: string): string {
  const { text, entities } = formatMarkdown(markdown);
  const marks = entities.map((mark) => `${mark.type}<${text.slice(mark.offset, mark.offset + mark.length)}>`);
  return [text, ...marks].join(" | ");
}

describe("formatMarkdown", () => {
  test("bold, italic, struck out and code", () => {
    expect(shown("a **b** *c* _d_ ~~e~~ `f*g*`")).toBe(
      "a b c d e f*g* | bold<b> | italic<c> | italic<d> | strikethrough<e> | code<f*g*>",
    );
    expect(shown("**a _b_**")).toBe("a b | bold<a b> | italic<b>");
  });

  test("what is no mark stays as it is", () => {
    for (const text of [
      "2 * 3 * 4",
      "snake_case_name",
      "a ** b",
      "(run run_0192-aa)",
      "5*6*7",
      "[x] done",
      "a ` b",
    ])
      expect(formatMarkdown(text)).toEqual({ text, entities: [] });
    expect(shown("\\*no\\*")).toBe("*no*");
  });

  test("headings, items, quotations", () => {
    expect(shown("# Title\n- one\n> said\n> so")).toBe(
      "Title\n• one\nsaid\nso | bold<Title> | blockquote<said\nso>",
    );
  });

  test("code blocks keep their text and language; one that is being written goes to the end", () => {
    expect(formatMarkdown("a\n```ts\nconst **b** = 1;\n```\nc")).toEqual({
      text: "a\nconst **b** = 1;\nc",
      entities: [{ type: "pre", language: "ts", offset: 2, length: 16 }],
    });
    expect(shown("```\nx")).toBe("x | pre<x>");
  });

  test("links of the web are links, others are text", () => {
    expect(formatMarkdown("[docs](https://a.example/b_(c))").entities).toEqual([
      { type: "text_link", url: "https://a.example/b_(c)", offset: 0, length: 4 },
    ]);
    expect(shown("[x](javascript:alert)")).toBe("[x](javascript:alert)");
    expect(shown("[x](tg://user?id=1)")).toBe("[x](tg://user?id=1)");
  });

  test("no text grows, and every mark lies within it", () => {
    const piece = fc.constantFrom(
      "*",
      "_",
      "~~",
      "`",
      "```\n",
      "[",
      "](https://a)",
      "> ",
      "# ",
      "\\",
      "\n",
      "| a |",
      "|-|",
      "a ",
      "😀",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }).map((all) => all.join("")),
        (markdown) => {
          const { text, entities } = formatMarkdown(markdown);
          expect(text.length).toBeLessThanOrEqual(markdown.length);
          for (const { offset, length } of entities) {
            expect(length).toBeGreaterThan(0);
            expect(offset + length).toBeLessThanOrEqual(text.length);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
