import fc from "fast-check";
import { expect, test } from "vitest";
import { missingText } from "./finish-chunks.ts";
import { emptyTree, reduceEvent } from "./reduce.ts";
import type { Chunk, StreamEvent } from "./stream.ts";

test("nothing is missing where the answer was streamed as it is", () => {
  expect(missingText("hello", "hello")).toEqual({ kind: "nothing" });
  expect(missingText("", "")).toEqual({ kind: "nothing" });
});

test("the rest is missing where the stream was cut", () => {
  expect(missingText("hel", "hello")).toEqual({ kind: "delta", delta: "lo" });
  expect(missingText("", "hello")).toEqual({ kind: "delta", delta: "hello" });
});

test("another answer replaces what was streamed", () => {
  const chunk = { type: "data-final-text", id: "final", data: { text: "hi" } };
  expect(missingText("hello", "hi")).toEqual({ kind: "replace", chunk });
  expect(missingText("hello", "")).toMatchObject({ kind: "replace", chunk: { data: { text: "" } } });
});

test("STRM-10: who appends what is missing always ends up with the committed text", () => {
  // Few letters, so that one text often begins with the other.
  const short = fc.string({ unit: fc.constantFrom("a", "b", "\ud83d", "\ude00"), maxLength: 6 });
  fc.assert(
    fc.property(short, short, (streamed, committed) => {
      const missing = missingText(streamed, committed);
      const chunks: Chunk[] = [{ type: "text-delta", id: "t", delta: streamed }];
      if (missing.kind === "delta") chunks.push({ type: "text-delta", id: "t", delta: missing.delta });
      if (missing.kind === "replace") chunks.push(missing.chunk);
      const events = chunks.map((chunk, i): StreamEvent => ({
        v: 1,
        root: "a",
        stream: "a",
        seq: i + 1,
        offset: i + 1,
        at: 1,
        chunk,
      }));
      expect(events.reduce(reduceEvent, emptyTree())["a"]!.text).toBe(committed);
    }),
  );
});
