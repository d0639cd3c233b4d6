import type { Chunk, StreamEnd, StreamEvent } from "./stream.ts";

/**
 * What a reader of a tree's log sees: the parts of each stream. Pure, and without imports at run time, so that the
 * console uses it as it is. Parts are scoped by stream and id; nothing is ever found by searching text.
 */

export type TreePart =
  | TextPart
  | { type: "data"; name: string; id: string | null; value: unknown }
  | ToolPart
  /** A source, a file or anything else that comes whole, as its chunk. */
  | { type: "other"; chunk: Chunk };

export interface TextPart {
  type: "text" | "reasoning";
  id: string;
  text: string;
  done: boolean;
}

export interface ToolPart {
  type: "tool";
  id: string;
  name: string;
  state: "input-streaming" | "input-ready" | "approval-requested" | "output" | "failed" | "denied";
  /** The input as text while it streams. */
  inputText: string;
  input: unknown;
  output: unknown;
  error: string | null;
}

export interface StreamView {
  parts: readonly TreePart[];
  /** The answer: all text parts, in order. */
  text: string;
  state: "open" | StreamEnd;
  /** The text of an `error` chunk. */
  error: string | null;
  /** The last event that is in here. */
  seq: number;
  /** How many parts there were when the current step began; `reset-step` goes back to it. */
  stepBegan: number;
}

export type Tree = Readonly<Record<string, StreamView>>;

export function emptyTree(): Tree {
  return {};
}

/** The tree with one more event. An event that is in it already (its `seq` is not above the last) changes nothing. */
export function reduceEvent(tree: Tree, event: StreamEvent): Tree {
  // An id may be the name of something that every object inherits.
  const known = Object.hasOwn(tree, event.stream) ? tree[event.stream] : undefined;
  const view = known ?? { parts: [], text: "", state: "open", error: null, seq: 0, stepBegan: 0 };
  if (event.seq <= view.seq) return tree;
  return { ...tree, [event.stream]: { ...reduceChunk(view, event.chunk), seq: event.seq } };
}

function reduceChunk(view: StreamView, chunk: Chunk): StreamView {
  switch (chunk.type) {
    case "start":
      // Another attempt of the run began; what the one before had streamed is void.
      return view.parts.length === 0 ? view : withParts({ ...view, stepBegan: 0 }, []);
    case "start-step":
      return { ...view, stepBegan: view.parts.length };
    case "reset-step":
      return withParts(view, view.parts.slice(0, view.stepBegan));
    case "error":
      return { ...view, error: textOf(chunk["errorText"]) };
    case "finish":
    case "finish-step":
    case "abort":
    case "message-metadata":
      return view;
    case "data-stream-end":
      return { ...view, state: (chunk["data"] as { state: StreamEnd }).state };
    case "data-final-text":
      return withFinalText(view, textOf((chunk["data"] as { text?: unknown } | undefined)?.text));
  }
  if (chunk.type.startsWith("text-")) return reduceText(view, "text", chunk);
  if (chunk.type.startsWith("reasoning-") && chunk.type !== "reasoning-file") {
    return reduceText(view, "reasoning", chunk);
  }
  if (chunk.type.startsWith("tool-")) return reduceTool(view, chunk);
  if (chunk.type.startsWith("data-")) return reduceData(view, chunk);
  return withPart(view, -1, { type: "other", chunk });
}

function reduceText(view: StreamView, type: "text" | "reasoning", chunk: Chunk): StreamView {
  const id = textOf(chunk["id"]);
  const index = view.parts.findLastIndex((part) => part.type === type && part.id === id);
  const known = view.parts[index] as TextPart | undefined;
  const action = chunk.type.slice(type.length + 1);
  if (action === "start") {
    return known && !known.done ? view : withPart(view, -1, { type, id, text: "", done: false });
  }
  if (action === "end") return known ? withPart(view, index, { ...known, done: true }) : view;
  if (action !== "delta") return view;
  const text = (known?.text ?? "") + textOf(chunk["delta"]);
  return withPart(view, index, { type, id, text, done: known?.done ?? false });
}

function reduceData(view: StreamView, chunk: Chunk): StreamView {
  if (chunk["transient"] === true) return view;
  const name = chunk.type.slice("data-".length);
  const id = typeof chunk["id"] === "string" ? chunk["id"] : null;
  const index =
    id === null
      ? -1
      : view.parts.findIndex((part) => part.type === "data" && part.name === name && part.id === id);
  return withPart(view, index, { type: "data", name, id, value: chunk["data"] });
}

function reduceTool(view: StreamView, chunk: Chunk): StreamView {
  // The answer to an approval names the approval only; the tool's next chunk says what came of it.
  if (typeof chunk["toolCallId"] !== "string") return view;
  const id = chunk["toolCallId"];
  const index = view.parts.findIndex((part) => part.type === "tool" && part.id === id);
  const known = (view.parts[index] as ToolPart | undefined) ?? newTool(id);
  return withPart(view, index, { ...known, ...toolChange(known, chunk) });
}

function newTool(id: string): ToolPart {
  const empty = { inputText: "", input: undefined, output: undefined, error: null };
  return { type: "tool", id, name: "", state: "input-streaming", ...empty };
}

function toolChange(known: ToolPart, chunk: Chunk): Partial<ToolPart> {
  const name = typeof chunk["toolName"] === "string" ? chunk["toolName"] : known.name;
  switch (chunk.type) {
    case "tool-input-start":
      return { name, state: "input-streaming" };
    case "tool-input-delta":
      return { inputText: known.inputText + textOf(chunk["inputTextDelta"]) };
    case "tool-input-available":
      return { name, state: "input-ready", input: chunk["input"] };
    case "tool-input-error":
      return { name, state: "failed", input: chunk["input"], error: textOf(chunk["errorText"]) };
    case "tool-approval-request":
      return { state: "approval-requested" };
    case "tool-output-available":
      return { state: "output", output: chunk["output"] };
    case "tool-output-error":
      return { state: "failed", error: textOf(chunk["errorText"]) };
    case "tool-output-denied":
      return { state: "denied" };
    default:
      return {};
  }
}

/** The committed answer takes the place of all text, where the first of it was. */
function withFinalText(view: StreamView, text: string): StreamView {
  const first = view.parts.findIndex((part) => part.type === "text");
  const at = first === -1 ? view.parts.length : first;
  const final: TreePart = { type: "text", id: "final", text, done: true };
  const rest = view.parts.slice(at).filter((part) => part.type !== "text");
  return withParts(view, [...view.parts.slice(0, at), final, ...rest]);
}

/** Puts a part at its place, or at the end for -1. */
function withPart(view: StreamView, index: number, part: TreePart): StreamView {
  return withParts(view, index === -1 ? [...view.parts, part] : view.parts.with(index, part));
}

function withParts(view: StreamView, parts: readonly TreePart[]): StreamView {
  const texts = parts.filter((part): part is TextPart => part.type === "text");
  // With one part, as a run has it, its text is taken as it is: joining would copy it for every token.
  const text = texts.length === 1 ? texts[0]!.text : texts.map((part) => part.text).join("");
  return { ...view, parts, text };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
