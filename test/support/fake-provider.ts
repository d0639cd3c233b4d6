import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How the fake answers one request. */
export type ProviderAnswer =
  /** An answer in as many deltas as there are texts. `reason` is the finish reason (`stop`). */
  | { text: string[]; usage?: ProviderUsage; reason?: string }
  | { toolCalls: { name: string; input: unknown; id?: string }[]; text?: string[]; usage?: ProviderUsage }
  /** An HTTP error. `body` is its message, `retryAfter` the header of that name. */
  | { status: number; body?: string; retryAfter?: string }
  /** A stream whose lines are no JSON, after `text`. */
  | { garbage: true; text?: string[] }
  /** Status 200 and a page instead of a stream. */
  | { page: string }
  /** `text`, and then the connection is destroyed (`socket`) or the stream ends without its finish (`end`). */
  | { cut: "socket" | "end"; text: string[] }
  /** `text`, and then nothing until the client leaves. */
  | { hang: true; text?: string[] }
  /** `text`, and then the stream reports an error of the provider. */
  | { streamError: string; text?: string[] };

export interface ProviderUsage {
  input: number;
  output: number;
}

export interface ProviderRequest {
  path: string;
  authorization: string | undefined;
  body: {
    model: string;
    messages: { role: string; content: unknown; tool_calls?: unknown }[];
    tools?: unknown;
    stream_options?: unknown;
  };
}

/**
 * A fake of an OpenAI-compatible server on loopback (`POST /v1/chat/completions`, streamed). Scripted answers are
 * given in order, each once; after them comes `fallback`.
 */
export interface FakeProvider {
  /** Base URL with its version, as `WAYBILL_MODEL_URL` wants it. */
  url: string;
  requests: ProviderRequest[];
  /** Adds answers to the script. */
  answer(...answers: ProviderAnswer[]): void;
  /** What is answered when the script is empty. At first: the text "ok". */
  fallback(answer: ProviderAnswer): void;
  /** Resolves when at least `count` requests have come. */
  requested(count: number): Promise<void>;
  /** Resolves when at least `count` clients have left an answer that hung. */
  left(count: number): Promise<void>;
  stop(): Promise<void>;
}

export async function fakeProvider(): Promise<FakeProvider> {
  const script: ProviderAnswer[] = [];
  let last: ProviderAnswer = { text: ["ok"], usage: { input: 1, output: 1 } };
  const requests: ProviderRequest[] = [];
  const came = counter();
  const leaving = counter();
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      requests.push({
        path: request.url ?? "",
        authorization: request.headers.authorization,
        body: JSON.parse(body),
      });
      const answer = script.shift() ?? last;
      response.on("close", () => {
        if ("hang" in answer) leaving.add();
      });
      came.add();
      respond(answer, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    answer: (...answers) => void script.push(...answers),
    fallback: (answer) => void (last = answer),
    requested: came.reached,
    left: leaving.reached,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

function respond(answer: ProviderAnswer, response: ServerResponse): void {
  if ("status" in answer) {
    if (answer.retryAfter !== undefined) response.setHeader("retry-after", answer.retryAfter);
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: answer.body ?? "no", type: "fake", code: null } }));
    return;
  }
  if ("page" in answer) {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(answer.page);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const text of answer.text ?? []) send(response, chunk({ role: "assistant", content: text }, null));
  finish(answer, response);
}

function finish(
  answer: Exclude<ProviderAnswer, { status: number } | { page: string }>,
  response: ServerResponse,
): void {
  if ("hang" in answer) {
    response.flushHeaders();
  } else if ("cut" in answer) {
    // The last bytes must have left before the connection goes, or the client would see no answer at all.
    if (answer.cut === "socket") response.write(": cut\n\n", () => response.destroy());
    else response.end();
  } else if ("garbage" in answer) {
    response.end('data: {"choices": [<html>\n\ndata: [DONE]\n\n');
  } else if ("streamError" in answer) {
    send(response, { error: { message: answer.streamError, type: "server_error", code: null } });
    response.end("data: [DONE]\n\n");
  } else if ("toolCalls" in answer) {
    for (const [index, call] of answer.toolCalls.entries()) {
      const made = { name: call.name, arguments: JSON.stringify(call.input) };
      const id = call.id ?? `call_${index}`;
      send(response, chunk({ tool_calls: [{ index, id, type: "function", function: made }] }, null));
    }
    end(response, "tool_calls", answer.usage);
  } else {
    end(response, answer.reason ?? "stop", answer.usage);
  }
}

function end(response: ServerResponse, reason: string, usage: ProviderUsage | undefined): void {
  send(response, chunk({}, reason));
  if (usage) {
    const counts = {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    };
    send(response, { ...chunk({}, null), choices: [], usage: counts });
  }
  response.end("data: [DONE]\n\n");
}

function chunk(delta: object, reason: string | null) {
  return {
    id: "chatcmpl-fake",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "fake-1",
    choices: [{ index: 0, delta, finish_reason: reason }],
  };
}

function send(response: ServerResponse, value: object): void {
  response.write(`data: ${JSON.stringify(value)}\n\n`);
}

/** A count that can be waited for. */
function counter() {
  let count = 0;
  let waiting: { least: number; resolve: () => void }[] = [];
  return {
    add() {
      count += 1;
      for (const waiter of waiting.filter(({ least }) => count >= least)) waiter.resolve();
      waiting = waiting.filter(({ least }) => count < least);
    },
    reached: (least: number) =>
      count >= least ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ least, resolve })),
  };
}
