import { expect, test } from "vitest";
import { readParts } from "./read-parts.ts";

test("a text alone is one part", () => {
  expect(readParts("hi", [], [])).toEqual({ parts: [{ type: "text", text: "hi" }], leftOut: [] });
});

test("files by data URL and https link are handed through, from parts and from files", () => {
  const read = readParts(
    "look",
    [{ type: "file", url: "https://example.org/a/cat.png", mediaType: "image/png", filename: "cat.png" }],
    [{ url: "data:text/plain;charset=utf-8;base64,aGk=", name: "hi.txt" }, { url: "data:text/html,%3Cb%3E" }],
  );
  expect(read).toEqual({
    parts: [
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", url: "https://example.org/a/cat.png", filename: "cat.png" },
      {
        type: "file",
        mediaType: "text/plain",
        url: "data:text/plain;charset=utf-8;base64,aGk=",
        filename: "hi.txt",
      },
      { type: "file", mediaType: "text/html", url: "data:text/html,%3Cb%3E" },
    ],
    leftOut: [],
  });
});

test("text parts stand for the text where they are given", () => {
  expect(
    readParts(
      "one two",
      [
        { type: "text", text: "one" },
        { type: "text", text: "two" },
      ],
      [],
    ).parts,
  ).toEqual([
    { type: "text", text: "one" },
    { type: "text", text: "two" },
  ]);
});

test.each<[unknown, string, string]>([
  [{ type: "file", url: "http://example.org/a.png" }, "a.png", "parts.reason.link"],
  [{ type: "file", url: "file:///etc/passwd" }, "passwd", "parts.reason.link"],
  [{ type: "file", url: "javascript:alert(1)", filename: "x" }, "x", "parts.reason.link"],
  [{ type: "file", url: "data:;base64,%%%", filename: "b.bin" }, "b.bin", "parts.reason.unreadable"],
  [{ type: "file", url: "data:image/png;base64,a b", filename: "c.png" }, "c.png", "parts.reason.unreadable"],
  [{ type: "file", filename: "d.png" }, "d.png", "parts.reason.unreadable"],
  [{ type: "file", url: "https://example.org/\0", filename: "e\0.png" }, "e.png", "parts.reason.unreadable"],
  [{ type: "poll", title: "?" }, "poll", "parts.reason.type"],
  ["nonsense", "?", "parts.reason.type"],
  [null, "?", "parts.reason.type"],
])("what cannot be taken is left out by its name, with the reason: %j", (part, name, reason) => {
  const { parts, leftOut } = readParts("look", [part], []);
  expect(parts).toEqual([{ type: "text", text: "look" }]);
  expect(leftOut).toMatchObject([{ name, reason }]);
});
