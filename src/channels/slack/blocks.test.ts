import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markdownPost, settledMarkdown, withoutPings } from "./blocks.ts";

describe("a post", () => {
  test("has the whole Markdown as a block, and as escaped text", () => {
    const markdown = "# Hi\n\n**a** & `b < c`\n\n| x |\n| - |\n| 1 |";
    expect(markdownPost(markdown)).toEqual({
      text: "# Hi\n\n**a** &amp; `b &lt; c`\n\n| x |\n| - |\n| 1 |",
      blocks: [{ type: "markdown", text: markdown }],
    });
  });

  test("that is too long for a block, or shows nothing, is text alone", () => {
    expect(markdownPost("x".repeat(12_001))).toEqual({ text: "x".repeat(12_001) });
    expect(markdownPost("  \n")).toEqual({ text: "  \n" });
  });
});

describe("mentions", () => {
  test.each([
    "<!channel>",
    "<!here|here>",
    "<!everyone>",
    "<!subteam^S012|@team>",
    "<!date^1392734382^{date}|then>",
    "<@U012AB>",
    "<@W012AB|jo>",
    "<#C012AB>",
    "@channel",
    "hey @here!",
    "(@everyone)",
  ])("%s is no mention any more, and reads as before", (text) => {
    const shown = withoutPings(text);
    expect(shown).not.toBe(text);
    expect(shown.replaceAll("\u200B", "")).toBe(text);
    expect(withoutPings(shown)).toBe(shown);
  });

  test.each([
    "a < b && c > d",
    "<!-- a comment --> <!DOCTYPE html>",
    "<https://a.example|a>",
    "jo@here.example",
    "@channels @hereafter",
    "<div>",
    "List<@NonNull String>",
  ])("%s stays as it is", (text) => {
    expect(withoutPings(text)).toBe(text);
  });
});

test("what is shown of a growing text never has to be taken back, and pings nobody", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "<!channel>",
      "<!here>",
      "<@U1A>",
      "@everyone",
      "@here",
      "<#C1>",
      "<!-- x -->",
      "👍",
      "<",
      "@",
      "!",
    ),
    fc.string({ maxLength: 5 }),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, (whole) => {
      let shown = "";
      for (let length = 0; length <= whole.length; length += 1) {
        const now = settledMarkdown(whole.slice(0, length));
        expect(now.startsWith(shown)).toBe(true);
        shown = now;
      }
      expect(withoutPings(whole).startsWith(shown)).toBe(true);
      expect(whole.length - shown.replaceAll("\u200B", "").length).toBeLessThanOrEqual(12);
    }),
    { numRuns: 500 },
  );
});
