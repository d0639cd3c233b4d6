import { z } from "zod";
import type { JsonValue } from "../agent.ts";

/**
 * What is said on standard input and output of an agent's process: one JSON object a line, in UTF-8. docs/protocol.md,
 * "Process agents", is the page for authors.
 *
 * A *turn* here is one execution: its id is the run's id and the number of the attempt, so that nothing late of an
 * earlier attempt is taken for the present one.
 */
export const wireVersion = 1;

/** The most bytes of one line of a process. What is longer ends it: memory has an end, and so must a line. */
export const LINE_BYTES_MOST = 1024 * 1024;

const turn = z.string().min(1).max(200);
/** The process's own id of a request, which its answer carries. */
const id = z.union([z.string().min(1).max(200), z.number()]);
const text = z.string();
/** JSON by having been parsed, and not too deep by `tooDeep`; a recursive schema would overflow the stack. */
const json = z.custom<JsonValue>((value) => value !== undefined, "it must be given");
const fileUrl = z.string().max(LINE_BYTES_MOST);
const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("file"), mediaType: z.string(), url: fileUrl, filename: z.string().optional() }),
  z.object({ type: z.literal("data"), name: z.string(), value: json, id: z.string().optional() }),
  z.object({ type: z.literal("citation"), url: z.string(), title: z.string().optional() }),
]);
const count = z.number().int().min(0);

const processLine = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), v: z.literal(wireVersion) }),
  z.object({ type: z.literal("bye") }),
]);

const turnLine = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), turn, text }),
  z.object({
    type: z.literal("data"),
    turn,
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    value: json,
    id: z.string().min(1).max(200).optional(),
  }),
  z.object({
    type: z.literal("usage"),
    turn,
    inputTokens: count.optional(),
    outputTokens: count.optional(),
    steps: count.optional(),
  }),
  z.object({ type: z.literal("silent"), turn }),
  z.object({ type: z.literal("done"), turn, text: text.optional() }),
  z.object({ type: z.literal("error"), turn, code: z.string().optional(), message: text }),
  z.object({ type: z.literal("progress"), turn, id: id.optional(), text, percent: z.number().optional() }),
  z.object({ type: z.literal("say"), turn, id: id.optional(), text }),
  z.object({ type: z.literal("send"), turn, id: id.optional(), to: z.string().optional(), text }),
  z.object({
    type: z.literal("start"),
    turn,
    id: id.optional(),
    agent: z.string(),
    text,
    parts: z.array(part).optional(),
    data: json.optional(),
  }),
  z.object({ type: z.literal("status"), turn, id, run: z.string() }),
  z.object({ type: z.literal("checkpoint"), turn, id: id.optional(), value: json }),
  z.object({ type: z.literal("follow_ups"), turn, id }),
  z.object({
    type: z.literal("remind"),
    turn,
    id: id.optional(),
    text,
    at: z.string().optional(),
    in: z.number().optional(),
    to: z.string().optional(),
    agent: z.string().optional(),
  }),
]);

/** A line about the process as a whole. */
export type ProcessLine = z.infer<typeof processLine>;
/** A line about one turn. */
export type TurnLine = z.infer<typeof turnLine>;
export type RequestId = z.infer<typeof id>;

const processTypes = new Set<string>(processLine.options.map(({ shape }) => shape.type.value));
const turnTypes = new Set<string>(turnLine.options.map(({ shape }) => shape.type.value));

/** Lines that ask nothing: an `id` in them is no request's. */
const plainTypes = new Set(["text", "data", "usage", "silent", "done", "error"]);

/** What a line turned out to be. `bad` names what it is about as far as that can be told, and the rule that it breaks. */
export type ReadLine =
  | { kind: "process"; line: ProcessLine }
  | { kind: "turn"; line: TurnLine }
  | {
      kind: "bad";
      why: "not_json" | "no_turn" | "unknown_type" | "bad_field";
      turn: string | null;
      id: RequestId | null;
      message: string;
    };

/** Reads one line of a process. Never throws, and repeats nothing of what the line says in its messages. */
export function readLine(line: string): ReadLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return bad("not_json", {}, "A line on standard output is not JSON. Write logs to standard error.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return bad("not_json", {}, "A line on standard output must be one JSON object.");
  }
  const fields = value as Record<string, unknown>;
  if (tooDeep(value)) {
    return bad("bad_field", fields, `A line has at most ${DEPTH_MOST} levels of lists and objects.`);
  }
  const type = typeof fields["type"] === "string" ? fields["type"] : "";
  if (fields["v"] !== undefined && fields["v"] !== wireVersion) {
    return bad("bad_field", fields, `v: this gateway speaks version ${wireVersion} of the protocol.`);
  }
  if (processTypes.has(type)) {
    const read = processLine.safeParse(value);
    return read.success ? { kind: "process", line: read.data } : badField(fields, type, read.error);
  }
  if (!turnTypes.has(type)) {
    const known = [...processTypes, ...turnTypes].join(", ");
    return bad("unknown_type", fields, `type: it must be one of ${known}.`);
  }
  if (typeof fields["turn"] !== "string" || fields["turn"] === "") {
    return bad(
      "no_turn",
      fields,
      `A line of type ${type} must name its turn: the field "turn", with the id that came with the turn. It is never guessed.`,
    );
  }
  const read = turnLine.safeParse(value);
  return read.success ? { kind: "turn", line: read.data } : badField(fields, type, read.error);
}

const DEPTH_MOST = 64;

/** Whatever reads the value later (the stream, the store) goes into it step by step. */
function tooDeep(value: object): boolean {
  let level: object[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= DEPTH_MOST) return true;
    level = level.flatMap((one) =>
      Object.values(one).filter((inner): inner is object => typeof inner === "object" && inner !== null),
    );
  }
  return false;
}

function badField(fields: Record<string, unknown>, type: string, error: z.ZodError): ReadLine {
  const [issue] = error.issues;
  const field = issue?.path.join(".") ?? "";
  return bad(
    "bad_field",
    fields,
    `A line of type ${type}: ${field}: ${issue?.message ?? "it is malformed"}.`,
  );
}

function bad(
  why: Extract<ReadLine, { kind: "bad" }>["why"],
  fields: Record<string, unknown>,
  message: string,
): ReadLine {
  const named = turn.safeParse(fields["turn"]);
  const asked = id.safeParse(plainTypes.has(String(fields["type"])) ? undefined : fields["id"]);
  return {
    kind: "bad",
    why,
    turn: named.success ? named.data : null,
    id: asked.success ? asked.data : null,
    message,
  };
}
