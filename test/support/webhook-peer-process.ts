/**
 * The other program of the webhook channel, as a process of its own: keeps posts by idempotency key in a file, checks
 * signatures, tells its parent of every request, and misbehaves as it is told. Started by webhook-peer.ts.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FromPeer, PeerAnswer, PeerPost, PeerRequest, ToPeer } from "./webhook-peer.ts";

const [file = "", secret = "", port = "0"] = process.argv.slice(2);

interface Kept {
  posts: PeerPost[];
  /** The id of the post that each key made or changed. */
  keys: Record<string, string>;
  gone: string[];
}

const kept = readKept();
const scripts: Record<"POST" | "GET", { once: PeerAnswer[]; always: PeerAnswer | null }> = {
  POST: { once: [], always: null },
  GET: { once: [], always: null },
};

function readKept(): Kept {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Kept;
  } catch {
    return { posts: [], keys: {}, gone: [] };
  }
}

function keep(): void {
  writeFileSync(`${file}.new`, JSON.stringify(kept));
  renameSync(`${file}.new`, file);
}

function tell(message: FromPeer): void {
  process.send?.(message);
}

interface Op {
  key: string;
  kind: "create" | "edit" | "delete";
  conversation: string;
  thread: string | null;
  text: string;
  part: number;
  target: string | null;
}

/** Does what an op says, once for each key. Null: its post or conversation is gone. */
function apply(op: Op): { id: string } | null {
  const known = kept.keys[op.key];
  if (known !== undefined) return { id: known };
  if (kept.gone.includes(op.conversation)) return null;
  const { key, conversation, thread, text, part } = op;
  const index = kept.posts.findIndex((post) => post.id === op.target);
  if (op.kind !== "create" && index === -1) return null;
  const id = op.target ?? `p${Object.keys(kept.keys).length + 1}`;
  if (op.kind === "create") kept.posts.push({ id, key, conversation, thread, text, part, edits: 0 });
  if (op.kind === "edit")
    kept.posts[index] = { ...kept.posts[index]!, text, edits: kept.posts[index]!.edits + 1 };
  if (op.kind === "delete") kept.posts.splice(index, 1);
  kept.keys[key] = id;
  keep();
  tell({ kind: "posts", posts: kept.posts });
  return { id };
}

function isSigned(request: IncomingMessage, body: string): boolean {
  const timestamp = String(request.headers["x-waybill-timestamp"] ?? "");
  const wanted = `v1=${createHmac("sha256", secret).update(`v1:${timestamp}:${body}`).digest("hex")}`;
  const given = String(request.headers["x-waybill-signature"] ?? "");
  const isFresh = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= 300;
  return (
    isFresh && given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted))
  );
}

function answerJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function answerUsually(method: "POST" | "GET", url: URL, body: string, response: ServerResponse): void {
  if (method === "GET") {
    const id = kept.keys[url.searchParams.get("key") ?? ""];
    if (id === undefined) answerJson(response, 404, { reason: "no such post" });
    else answerJson(response, 200, { id, permalink: `https://peer.example/${id}` });
    return;
  }
  const done = apply(JSON.parse(body) as Op);
  if (done) answerJson(response, 200, { ...done, permalink: `https://peer.example/${done.id}` });
  else answerJson(response, 410, { reason: "the conversation was deleted" });
}

/** `true` for an answer that does the op although nobody is told of it. */
function accepts(answer: PeerAnswer): boolean {
  return answer.kind === "accept-hang" || answer.kind === "accept-close" || answer.kind === "accept-no-id";
}

function answerAsTold(
  answer: PeerAnswer,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): void {
  if (accepts(answer)) apply(JSON.parse(body) as Op);
  switch (answer.kind) {
    case "status": {
      const headers = {
        ...(answer.retryAfter === undefined ? {} : { "retry-after": answer.retryAfter }),
        ...(answer.location === undefined ? {} : { location: answer.location }),
      };
      answerJson(response, answer.status, answer.body ?? {}, headers);
      break;
    }
    case "accept-no-id":
      answerJson(response, 200, { ok: true });
      break;
    case "close":
    case "accept-close":
      request.socket.destroy();
      break;
    case "hang":
    case "accept-hang":
      break;
  }
}

const server = createServer((request, response) => {
  // One request a connection, so that a restart of this side never looks like a cut request.
  response.shouldKeepAlive = false;
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (piece: string) => (body += piece));
  request.on("end", () => {
    const url = new URL(request.url ?? "/", "http://peer");
    const method = request.method === "GET" ? "GET" : "POST";
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const signed = isSigned(request, body);
    const seen: PeerRequest = { method, url: request.url ?? "", headers, body, signed };
    const script = scripts[method];
    const told = script.once.shift() ?? script.always;
    if (!signed) answerJson(response, 401, { reason: "not signed" });
    else if (told) answerAsTold(told, request, response, body);
    else answerUsually(method, url, body, response);
    tell({ kind: "request", request: seen });
  });
});

process.on("message", (message: ToPeer) => {
  if (message.kind === "once") scripts[message.method].once.push(...message.answers);
  if (message.kind === "always") scripts[message.method].always = message.answer;
  if (message.kind === "gone") {
    kept.gone.push(message.conversation);
    keep();
  }
  tell({ kind: "done", id: message.id });
});
process.on("disconnect", () => process.exit(0));
server.listen(Number(port), "127.0.0.1", () => {
  const { port: bound } = server.address() as AddressInfo;
  tell({ kind: "ready", port: bound, posts: kept.posts });
});
