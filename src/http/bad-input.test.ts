import http from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gate, httpGateway, startHttpGateway, type HttpGateway } from "../../test/support/http-gateway.ts";
import { agent } from "../agents/agent-factory.ts";
import type { WireProblem } from "./api.ts";

const config = { agents: { echo: agent.fn(async (ctx) => `You said: ${ctx.text}`) } };
const json = { "content-type": "application/json" };

function post(body: unknown, headers: Record<string, string> = json): RequestInit {
  return { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) };
}

const good = { conversation: "a", text: "hi" };

/** What is sent, and the problem that answers it. */
const refused: [string, string, RequestInit | undefined, number, string, RegExp?][] = [
  [
    "broken JSON",
    "/v1/messages",
    post('{"conversation": "a",\n "text": "b" 7}'),
    400,
    "invalid_json",
    /line 2, column 14/,
  ],
  ["a token where none may be", "/v1/messages", post('{"text": }'), 400, "invalid_json", /"\}" stands/],
  ["JSON that ends early", "/v1/messages", post('{"conversation": "a"'), 400, "invalid_json", /line 1/],
  ["no body", "/v1/messages", post(""), 400, "invalid_json", /empty/],
  [
    "a body that is no UTF-8",
    "/v1/messages",
    { ...post(""), body: new Uint8Array([0x22, 0xff, 0x22]) },
    400,
    "invalid_json",
    /UTF-8/,
  ],
  ["a list", "/v1/messages", post([]), 400, "invalid_request"],
  [
    "a missing field",
    "/v1/messages",
    post({ text: "hi" }),
    400,
    "invalid_request",
    /conversation: is missing/,
  ],
  [
    "neither text nor parts",
    "/v1/messages",
    post({ conversation: "a" }),
    400,
    "invalid_request",
    /text: is missing/,
  ],
  ["an empty text", "/v1/messages", post({ ...good, text: "  " }), 400, "invalid_request", /text: is empty/],
  [
    "a wrong type",
    "/v1/messages",
    post({ ...good, text: 7 }),
    400,
    "invalid_request",
    /text: expected string/,
  ],
  [
    "an unknown field",
    "/v1/messages",
    post({ ...good, txt: "hi" }),
    400,
    "invalid_request",
    /txt: is no field/,
  ],
  [
    "an address as conversation",
    "/v1/messages",
    post({ ...good, conversation: "web:main/a" }),
    400,
    "invalid_request",
    /conversation/,
  ],
  [
    "a file that is no link",
    "/v1/messages",
    post({
      conversation: "a",
      parts: [{ type: "file", mediaType: "text/plain", url: "file:///etc/passwd" }],
    }),
    400,
    "invalid_request",
    /parts\[0\]\.url/,
  ],
  [
    "a NUL in a text",
    "/v1/messages",
    post({ ...good, text: "a\0b" }),
    400,
    "invalid_request",
    /text: may not hold the character NUL/,
  ],
  ["a NUL in an id", "/v1/messages", post({ ...good, id: "\0" }), 400, "invalid_request", /id: may not hold/],
  [
    "a NUL deep inside",
    "/v1/messages",
    post({ ...good, parts: [{ type: "data", name: "x", value: { y: ["\0"] } }] }),
    400,
    "invalid_request",
    /parts\[0\]\.value\.y\[0\]/,
  ],
  [
    "JSON that nobody can walk",
    "/v1/messages",
    post(
      `{"conversation":"a","text":"x","parts":[{"type":"data","name":"x","value":${"[".repeat(5_000)}${"]".repeat(5_000)}}]}`,
    ),
    400,
    "invalid_request",
    /nested/,
  ],
  [
    "a text as form",
    "/v1/messages",
    post("a=b", { "content-type": "application/x-www-form-urlencoded" }),
    415,
    "unsupported_media_type",
    /application\/json/,
  ],
  [
    "20 MB",
    "/v1/messages",
    post({ ...good, text: "x".repeat(20_000_000) }),
    413,
    "body_too_large",
    /1048576/,
  ],
  ["an unknown agent", "/v1/messages", post({ ...good, agent: "ecko" }), 404, "unknown_agent", /"echo"/],
  ["an unknown run", "/v1/runs/run_nope", undefined, 404, "unknown_run"],
  ["an id that is none", "/v1/runs/a%00b", undefined, 400, "invalid_id"],
  ["events of an unknown run", "/v1/runs/run_nope/events", undefined, 404, "unknown_run"],
  ["a cancel of an unknown run", "/v1/runs/run_nope/cancel", post(""), 404, "unknown_run"],
  ["a retry of an unknown run", "/v1/runs/run_nope/retry", post(""), 404, "unknown_run"],
  ["an unknown delivery", "/v1/deliveries/dlv_nope", undefined, 404, "unknown_delivery"],
  ["a retry of an unknown delivery", "/v1/deliveries/dlv_nope/retry", post(""), 404, "unknown_delivery"],
  ["an unknown stream", "/v1/stream/str_nope", undefined, 404, "unknown_stream"],
  ["an id of nothing", "/v1/why/nope", undefined, 404, "not_found", /nope/],
  ["a malformed address", "/v1/messages?address=nowhere", undefined, 400, "invalid_address"],
  [
    "an address in another form",
    "/v1/status?address=web:main/%2561",
    undefined,
    400,
    "invalid_address",
    /web:main\/a/,
  ],
  ["a status of nothing", "/v1/status", undefined, 400, "invalid_request"],
  ["a feed of no address", "/v1/conversations/events?address=x", undefined, 400, "invalid_address"],
  ["too large a page", "/v1/runs?limit=1001", undefined, 400, "invalid_request", /limit/],
  ["a state that is none", "/v1/runs?state=done", undefined, 400, "invalid_request", /state/],
  ["a made up page", "/v1/runs?next=abc", undefined, 400, "invalid_request", /next/],
  ["an unknown parameter", "/v1/runs?agnt=echo", undefined, 400, "invalid_request", /agnt/],
  ["a send to no address", "/v1/sends", post({ to: "x", text: "hi" }), 400, "invalid_address"],
  [
    "a send to a channel that is not there",
    "/v1/sends",
    post({ to: "slack:T1/C1", text: "hi" }),
    403,
    "destination_not_allowed",
  ],
  [
    "a send in the name of an unknown run",
    "/v1/sends",
    post({ to: "web:main/a", text: "hi", run: "run_nope" }),
    404,
    "unknown_run",
  ],
  [
    "a chat without a message of a person",
    "/api/chat",
    post({ id: "c", messages: [] }),
    400,
    "invalid_request",
  ],
  ["a path that is not there", "/v2/messages", undefined, 404, "not_found"],
  ["a channel that is not there", "/channels/nope/hook", post("{}"), 404, "not_found"],
  ["a method that is not there", "/v1/runs", { method: "DELETE" }, 405, "method_not_allowed"],
];

describe("what cannot be taken", () => {
  let gateway: HttpGateway;
  beforeAll(async () => {
    gateway = await startHttpGateway(config);
  });
  afterAll(() => gateway.stop());

  test.each(refused)("%s", async (_what, path, init, status, code, detail) => {
    const response = await gateway.call(path, init);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const problem = (await response.json()) as WireProblem;
    expect([response.status, problem.status, problem.code]).toEqual([status, status, code]);
    if (detail) expect(problem.detail).toMatch(detail);
    expect(JSON.stringify(problem)).not.toMatch(/\bat .*\.ts:\d+/);
    // Still serving, and nothing of it was stored.
    const { body } = await gateway.get<{ items: unknown[] }>("/v1/runs");
    expect(body.items).toEqual([]);
  });

  test("a field at fault is named, with its rule", async () => {
    const { body } = await gateway.post("/v1/messages", { conversation: "", parts: [{ type: "text" }] });
    expect(body.issues).toEqual([
      { field: "conversation", rule: "may not be empty" },
      { field: "parts[0].text", rule: "is missing (string)" },
    ]);
  });

  test("other methods are named in allow", async () => {
    expect((await gateway.call("/v1/messages", { method: "PUT" })).headers.get("allow")).toBe(
      "POST, GET, HEAD",
    );
  });
});

describe("over a socket", () => {
  /** Sends bytes without announcing how many. */
  function sendChunks(url: string, size: number): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const request = http.request(url, { method: "POST", headers: json }, (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (text: string) => (body += text));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
      });
      request.on("error", reject);
      const piece = Buffer.alloc(65_536, "x");
      let sent = 0;
      const write = (): void => {
        while (sent < size) {
          sent += piece.length;
          if (!request.write(piece)) {
            request.once("drain", write);
            return;
          }
        }
        request.end();
      };
      write();
    });
  }

  test("20 MB are answered, whether or not their length was announced", async () => {
    const url = await (await httpGateway(config)).listen();
    const announced = await fetch(`${url}/v1/messages`, post({ ...good, text: "x".repeat(20_000_000) }));
    expect([announced.status, ((await announced.json()) as WireProblem).code]).toEqual([
      413,
      "body_too_large",
    ]);
    const { status, body } = await sendChunks(`${url}/v1/messages`, 20_000_000);
    expect([status, (JSON.parse(body) as WireProblem).code]).toEqual([413, "body_too_large"]);
    expect((await fetch(`${url}/v1/messages`, post(good))).status).toBe(202);
  });

  test("a body without announced length is taken", async () => {
    const url = await (await httpGateway(config)).listen();
    const body = new Blob([JSON.stringify(good)]).stream();
    const init = { method: "POST", headers: json, body, duplex: "half" };
    const answer = await fetch(`${url}/v1/messages`, init as RequestInit);
    expect(answer.status).toBe(202);
  });
});

describe("every answer", () => {
  test("has an id, and is neither guessed at nor kept", async () => {
    const gateway = await httpGateway(config);
    const response = await gateway.call("/v1/runs", { headers: { "x-request-id": "mine-1" } });
    expect(response.headers.get("x-request-id")).toBe("mine-1");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const other = await gateway.call("/v1/runs", { headers: { "x-request-id": "not well formed" } });
    expect(other.headers.get("x-request-id")).toMatch(/^req_/);
  });

  test("is 503 before the start and after the stop", async () => {
    const { RunningGateway } = await import("../gateway/create-gateway.ts");
    const running = new RunningGateway(config, {});
    const response = await running.fetch(new Request("http://localhost/v1/runs"));
    expect([response.status, ((await response.json()) as WireProblem).code]).toEqual([503, "shutting_down"]);
  });
});

test("ready tells apart a gateway that stops", async () => {
  const hold = gate();
  const gateway = await httpGateway({
    agents: { hold: agent.fn(async () => hold.opened.then(() => "done")) },
  });
  const started = gateway.hint((one) => one.kind === "run" && one.state === "running");
  await gateway.post("/v1/messages", good);
  await started;
  const stopped = gateway.running.stop(5_000);
  const { status, body } = await gateway.get<{ ready: boolean; reason: string }>("/readyz");
  expect([status, body]).toEqual([503, { ready: false, reason: "the gateway is stopping" }]);
  expect((await gateway.post("/v1/messages", good)).body.code).toBe("shutting_down");
  hold.open();
  await stopped;
});
