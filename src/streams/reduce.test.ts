import { expect, test } from "vitest";
import { endChunk } from "./finish-chunks.ts";
import { emptyTree, reduceEvent, type Tree } from "./reduce.ts";
import type { Chunk, StreamEvent } from "./stream.ts";

/** The tree of these chunks, each given as [stream, chunk]. */
function treeOf(...chunks: [string, Chunk][]): Tree {
  const seqs = new Map<string, number>();
  return chunks
    .map(([stream, chunk], i): StreamEvent => {
      const seq = (seqs.get(stream) ?? 0) + 1;
      seqs.set(stream, seq);
      return { v: 1, root: "a", stream, seq, offset: i + 1, at: 1, chunk };
    })
    .reduce(reduceEvent, emptyTree());
}

const delta = (text: string, id = "t"): Chunk => ({ type: "text-delta", id, delta: text });

test("text grows by part, also without a start, and parts keep their order", () => {
  const tree = treeOf(
    ["a", { type: "start" }],
    ["a", { type: "text-start", id: "1" }],
    ["a", delta("Hel", "1")],
    ["a", delta("!", "2")],
    ["a", delta("lo", "1")],
    ["a", { type: "text-end", id: "1" }],
  );
  expect(tree["a"]).toMatchObject({ text: "Hello!", state: "open", seq: 6 });
  expect(tree["a"]!.parts).toEqual([
    { type: "text", id: "1", text: "Hello", done: true },
    { type: "text", id: "2", text: "!", done: false },
  ]);
});

test("STRM-3: two streams with the same part ids do not meet", () => {
  const tree = treeOf(
    ["a", delta("root ")],
    ["b", delta("left ")],
    ["c", delta("right ")],
    ["b", { type: "data-slot", id: "1", data: "b1" }],
    ["c", { type: "data-slot", id: "1", data: "c1" }],
    ["b", { type: "data-slot", id: "1", data: "b2" }],
    ["b", delta("b")],
    ["c", delta("c")],
  );
  expect(tree["a"]!.text).toBe("root ");
  expect(tree["b"]).toMatchObject({ text: "left b" });
  expect(tree["c"]).toMatchObject({ text: "right c" });
  expect(tree["b"]!.parts[1]).toEqual({ type: "data", name: "slot", id: "1", value: "b2" });
  expect(tree["c"]!.parts[1]).toEqual({ type: "data", name: "slot", id: "1", value: "c1" });
});

test("data replaces by name and id, adds without an id, and does not stay when it is transient", () => {
  const tree = treeOf(
    ["a", { type: "data-x", id: "1", data: 1 }],
    ["a", { type: "data-y", id: "1", data: 2 }],
    ["a", { type: "data-x", id: "1", data: 3 }],
    ["a", { type: "data-x", data: 4 }],
    ["a", { type: "data-x", data: 5 }],
    ["a", { type: "data-note", transient: true, data: 6 }],
  );
  expect(tree["a"]!.parts.map((part) => part.type === "data" && [part.name, part.id, part.value])).toEqual([
    ["x", "1", 3],
    ["y", "1", 2],
    ["x", null, 4],
    ["x", null, 5],
  ]);
});

test("a tool call goes from its input to its output", () => {
  const call = { toolCallId: "c1" };
  const begin: [string, Chunk][] = [
    ["a", { type: "tool-input-start", ...call, toolName: "add" }],
    ["a", { type: "tool-input-delta", ...call, inputTextDelta: '{"n"' }],
    ["a", { type: "tool-input-delta", ...call, inputTextDelta: ":1}" }],
  ];
  const input = { type: "tool-input-available", ...call, toolName: "add", input: { n: 1 } };
  expect(treeOf(...begin)["a"]!.parts).toMatchObject([
    { name: "add", state: "input-streaming", inputText: '{"n":1}' },
  ]);
  const tool = (...more: Chunk[]) =>
    treeOf(...begin, ["a", input], ...more.map((chunk) => ["a", chunk] as [string, Chunk]))["a"]!.parts;
  expect(tool()).toMatchObject([{ state: "input-ready", input: { n: 1 } }]);
  expect(tool({ type: "tool-output-available", ...call, output: 2 })).toMatchObject([
    { state: "output", output: 2 },
  ]);
  expect(tool({ type: "tool-output-error", ...call, errorText: "no" })).toMatchObject([
    { state: "failed", error: "no" },
  ]);
  const asked = { type: "tool-approval-request", ...call, approvalId: "p1" };
  expect(tool(asked)).toMatchObject([{ state: "approval-requested" }]);
  expect(tool(asked, { type: "tool-output-denied", ...call })).toMatchObject([{ state: "denied" }]);
});

test("reasoning is a part but not text, and files and sources are kept whole", () => {
  const source = { type: "source-url", sourceId: "s", url: "https://example.org" };
  const tree = treeOf(
    ["a", { type: "reasoning-delta", id: "r", delta: "hm" }],
    ["a", source],
    ["a", delta("yes")],
  );
  expect(tree["a"]!.text).toBe("yes");
  expect(tree["a"]!.parts.map((part) => part.type)).toEqual(["reasoning", "other", "text"]);
});

test("a step that is reset takes its parts with it; a new attempt takes all", () => {
  const step: [string, Chunk][] = [
    ["a", delta("kept", "0")],
    ["a", { type: "start-step" }],
    ["a", delta("gone", "1")],
    ["a", { type: "reset-step" }],
    ["a", delta("!", "1")],
  ];
  expect(treeOf(...step)["a"]!.text).toBe("kept!");
  expect(treeOf(...step, ["a", { type: "start" }], ["a", delta("again", "0")])["a"]!.text).toBe("again");
});

test("the committed text replaces all text at its place", () => {
  const tree = treeOf(
    ["a", { type: "data-x", data: 1 }],
    ["a", delta("wro", "1")],
    ["a", { type: "data-x", data: 2 }],
    ["a", delta("ng", "2")],
    ["a", { type: "data-final-text", id: "final", data: { text: "right" } }],
  );
  expect(tree["a"]!.text).toBe("right");
  expect(tree["a"]!.parts.map((part) => part.type)).toEqual(["data", "text", "data"]);
});

test("STRM-12: how a nested stream ended does not change its parent", () => {
  const tree = treeOf(
    ["a", delta("root")],
    ["b", { type: "error", errorText: "broken" }],
    ["b", { type: "finish" }],
    ["b", endChunk("failed")],
  );
  expect(tree["a"]).toMatchObject({ state: "open", error: null, text: "root" });
  expect(tree["b"]).toMatchObject({ state: "failed", error: "broken", parts: [] });
});

test("an event that comes again changes nothing, and no tree is changed in place", () => {
  const one = treeOf(["a", delta("x")]);
  const copy = structuredClone(one);
  const event: StreamEvent = { v: 1, root: "a", stream: "a", seq: 2, offset: 2, at: 1, chunk: delta("y") };
  const two = reduceEvent(one, event);
  expect(two["a"]!.text).toBe("xy");
  expect(reduceEvent(two, event)).toBe(two);
  expect(one).toEqual(copy);
});

test("a stream may have the name of something inherited", () => {
  for (const name of ["__proto__", "constructor"]) {
    const tree = treeOf([name, delta("x")], [name, delta("y")]);
    expect(Object.entries(tree).map(([stream, view]) => [stream, view.text])).toEqual([[name, "xy"]]);
  }
});
