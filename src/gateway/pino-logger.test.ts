import { expect, test } from "vitest";
import type { LogLevel } from "./environment.ts";
import { pinoLogger, prettyLine } from "./pino-logger.ts";

function setup(level: LogLevel = "debug", pretty = false) {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line), flush() {} };
  return { lines, log: pinoLogger({ level, pretty, colour: false, sink }) };
}

test("a line is JSON with level, time, the ids of the child and the message", () => {
  const { lines, log } = setup();
  log.child({ run: "run_1" }).child({ turn: "turn_1" }).info({ state: "completed" }, "a run has ended");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    run: "run_1",
    turn: "turn_1",
    state: "completed",
    msg: "a run has ended",
  });
});

test("what is below the level is not written", () => {
  const { lines, log } = setup("warn");
  log.debug({}, "a");
  log.info({}, "b");
  log.warn({}, "c");
  log.error({}, "d");
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(["c", "d"]);
  const silent = setup("silent");
  silent.log.error({}, "e");
  expect(silent.lines).toEqual([]);
});

test("secrets are taken out: by the name of their field, by their look, at any depth, of children too", () => {
  const { lines, log } = setup();
  const secret = "hush-hush-hush";
  log.child({ authorization: secret }).warn(
    {
      token: secret,
      apiKey: secret,
      headers: { cookie: secret, list: [{ password: secret }] },
      error: new Error(`refused: Bearer ${secret}`),
      url: `postgres://me:${secret}@host/db`,
    },
    "said",
  );
  expect(lines.join("")).not.toContain(secret);
});

test("what only sounds like a secret stays: counts and ids", () => {
  const { lines, log } = setup();
  log.info({ inputTokens: 12, run: "run_01a22ea9-f268-755e-8d29-41b58b434642" }, "x");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    inputTokens: 12,
    run: "run_01a22ea9-f268-755e-8d29-41b58b434642",
  });
});

test("for a terminal: one readable line", () => {
  const { lines, log } = setup("info", true);
  log.error({ run: "run_1", nothing: null, data: { a: 1 } }, "it broke");
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d error it broke run=run_1 data=\{"a":1\}\n$/);
  const json = '{"level":30,"time":"2026-01-02T03:04:05.000Z","msg":"hi"}';
  expect(prettyLine(json, true)).toContain("\u001b[32minfo ");
});

test("a value that holds itself does not end the process", () => {
  const { lines, log } = setup();
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  log.info({ circle }, "x");
  expect(lines).toHaveLength(1);
});
