import { expect, test } from "vitest";
import { agent } from "./agent-factory.ts";
import { agentRegistry } from "./registry.ts";

const hi = agent.fn(() => "hi");

test("the first agent is the default, and each is found by its name", () => {
  const worker = agent.fn(() => "done", { background: true });
  const registry = agentRegistry({ assistant: hi, worker });
  expect(registry.defaultName).toBe("assistant");
  expect(registry.names).toEqual(["assistant", "worker"]);
  expect(registry.get("worker")).toBe(worker);
  expect(registry.has("worker")).toBe(true);
  expect(registry.has("constructor")).toBe(false);
});

test("a name that is not there: the nearest is suggested, or all are named", () => {
  const registry = agentRegistry({ assistant: hi, worker: hi });
  const known = ["assistant", "worker"];
  expect(() => registry.get("asistant")).toThrow(
    expect.objectContaining({
      code: "unknown_agent",
      message: expect.stringContaining('Did you mean "assistant"?'),
      details: { agent: "asistant", known },
    }),
  );
  expect(() => registry.get("zzzzzzzz")).toThrow(/There is "assistant", "worker"\./);
  expect(() => registry.get("__proto__")).toThrow(expect.objectContaining({ code: "unknown_agent" }));
  expect(() => registry.get(`a\u0000${"b".repeat(500)}`)).toThrow(/"a\?b{78}"/);
});

test.each(["", "Assistant", "-a", "a b", "a.b", "a/b", "é", "a".repeat(65)])(
  "the name %j is refused",
  (name) => {
    expect(() => agentRegistry({ [name]: hi })).toThrow(expect.objectContaining({ code: "config_invalid" }));
  },
);

test.each(["a", "_a", "0", "a-b_c", "a".repeat(64)])("the name %j is taken", (name) => {
  expect(agentRegistry({ [name]: hi }).defaultName).toBe(name);
});

test("no agent, or something that is none, is refused by name", () => {
  expect(() => agentRegistry({})).toThrow(/name at least one agent/);
  expect(() => agentRegistry({ helper: (() => "hi") as never })).toThrow(/agents\.helper: this is no agent/);
});

test("the digest tells settings apart, and is the same for the same", () => {
  const digest = (options: object, name = "a") =>
    agentRegistry({ [name]: agent.fn(() => "", options) }).digest(name);
  expect(digest({})).toBe(digest({}));
  expect(digest({ limits: { tokens: 1, steps: 2 } })).toBe(digest({ limits: { steps: 2, tokens: 1 } }));
  const all = [digest({}), digest({}, "b"), digest({ version: "2" }), digest({ limits: { tokens: 1 } })];
  expect(new Set(all).size).toBe(4);
});
