import { describe, expect, test } from "vitest";
import { agent } from "../agents/agent-factory.ts";
import { checkSettings, settingIssues } from "./check-settings.ts";
import type { WaybillConfig } from "./settings.ts";

const assistant = agent.fn(async (ctx) => ctx.text);
const channel = { kind: "slack", account: "T1", connect: () => ({}) };

/** The issues of settings as `field rule`, which is how people read them. */
function said(config: unknown): string[] {
  return settingIssues(config).map(({ field, rule }) => `${field} ${rule}`.trim());
}

const full = {
  agents: { assistant },
  channels: [channel],
  routes: [{ in: "slack:T1/*", agent: "assistant" }],
  crossPost: [{ from: "slack:T1/D1", to: "slack:T1/C2" }, { to: "web:main/news" }],
  limits: {
    run: { tokens: 1, steps: 1, wallMs: 1 },
    daily: { perSender: { runs: 1 }, perAgent: { tokens: 1 } },
    concurrency: 1,
    requestsPerMinute: 1,
    bodyBytes: 1,
    answerCharacters: 1,
  },
  memory: "shared",
  memoryWindow: 0,
  followUp: "steer",
  lastActive: true,
  shutdown: { graceMs: 0 },
  locale: "ko",
};

test("settings with every field are right, and so are those with agents alone", () => {
  expect(settingIssues(full)).toEqual([]);
  expect(settingIssues({ agents: { assistant } })).toEqual([]);
});

describe("an unknown name is named with the nearest one that is known", () => {
  test.each([
    [{ memroy: "shared" }, 'memroy is not a setting. Did you mean "memory"?'],
    [{ limits: { run: { token: 1 } } }, 'limits.run.token is not a setting. Did you mean "tokens"?'],
    [
      { limits: { daily: { perUser: {} } } },
      'limits.daily.perUser is not a setting. There is "perSender", "perAgent".',
    ],
    [{ shutdown: { grace: 1 } }, 'shutdown.grace is not a setting. Did you mean "graceMs"?'],
    [
      { routes: [{ in: "web:main/a", agent: "assistant", from: 1 }] },
      'routes[0].from is not a setting. There is "in", "agent".',
    ],
    [
      { routes: [{ in: "web:main/a", agent: "asistant" }] },
      'routes[0].agent names the agent "asistant", which is not in agents. Did you mean "assistant"?',
    ],
    [
      { crossPost: [{ from: "wbe:main/a", to: "web:main/b" }] },
      'crossPost[0].from names the channel "wbe", which is not configured. Did you mean "web"?',
    ],
    [{ memory: "shard" }, 'memory must be one of "conversation", "shared". Did you mean "shared"?'],
  ])("%j", (part, expected) => {
    expect(said({ agents: { assistant }, ...part })).toEqual([expected]);
  });
});

describe("a value of the wrong kind breaks a rule that is named", () => {
  test.each([
    ["limits.run.tokens", { limits: { run: { tokens: 0 } } }],
    ["limits.run.steps", { limits: { run: { steps: 1.5 } } }],
    ["limits.run.wallMs", { limits: { run: { wallMs: "1h" } } }],
    ["limits.concurrency", { limits: { concurrency: -1 } }],
    ["limits.bodyBytes", { limits: { bodyBytes: Number.POSITIVE_INFINITY } }],
    ["limits.daily.perAgent.runs", { limits: { daily: { perAgent: { runs: null } } } }],
    ["memoryWindow", { memoryWindow: -1 }],
    ["followUp", { followUp: 3 }],
    ["lastActive", { lastActive: "yes" }],
    ["shutdown", { shutdown: 5 }],
    ["locale", { locale: "de" }],
    ["routes", { routes: {} }],
    ["routes[0]", { routes: [5] }],
    ["routes[0].in", { routes: [{ in: "general", agent: "assistant" }] }],
    ["crossPost[0].to", { crossPost: [{ to: "web:main/a*" }] }],
    ["channels[0]", { channels: [() => channel] }],
    ["channels[0]", { channels: [Promise.resolve(channel)] }],
    ["channels[0]", { channels: [{ kind: "slack" }] }],
    ["channels[1]", { channels: [channel, channel] }],
  ])("%s in %j", (field, part) => {
    const issues = settingIssues({ agents: { assistant }, ...part });
    expect(issues.map((issue) => issue.field)).toEqual([field]);
    expect(issues[0]?.rule).toMatch(/^(must|is|names) .*\.$/);
  });

  test.each([[{}], [{ agents: {} }], [{ agents: [] }], [{ agents: null }]])("no agents: %j", (config) => {
    expect(settingIssues(config).map((issue) => issue.field)).toEqual(["agents"]);
  });

  test("what is no agent, or has no agent's name", () => {
    expect(said({ agents: { "A b": assistant, bare: () => 1, other: 3 } })).toEqual([
      "agents.A b is no name for an agent: use a to z, 0 to 9, _ and -, at most 64, no - at the start.",
      "agents.bare is a bare function. Wrap it: agent.fn(...).",
      "agents.other is no agent. Make it with agent.fn(...), agent.model(...), agent.ai(...) or agent.process(...).",
    ]);
  });

  test.each([[null], [[]], ["agents"], [undefined]])("settings that are no object: %j", (config) => {
    expect(said(config)).toHaveLength(1);
  });
});

test("all that is wrong is said at once, in one error with its issues", () => {
  const config = { agents: { assistant }, memroy: 1, locale: "de" } as unknown as WaybillConfig;
  expect(() => checkSettings(config, {})).toThrow(
    expect.objectContaining({
      code: "config_invalid",
      message: expect.stringContaining("2 problems") as string,
      details: {
        field: "locale",
        issues: [
          { field: "locale", rule: 'must be one of "en", "ko".' },
          { field: "memroy", rule: 'is not a setting. Did you mean "memory"?' },
        ],
      },
    }) as Error,
  );
});

test("an open door without a token is refused", () => {
  const config = { agents: { assistant } };
  expect(() => checkSettings(config, { loopback: false })).toThrow(
    expect.objectContaining({ code: "token_required" }) as Error,
  );
  expect(checkSettings(config, { loopback: false, token: "a-token-of-some-length" })).toEqual([]);
});

test("a grace that outlasts every supervisor is a warning and no error", () => {
  const config = { agents: { assistant }, shutdown: { graceMs: 90_001 } };
  expect(checkSettings(config, {})).toEqual([expect.stringContaining("shutdown.graceMs") as string]);
  expect(checkSettings({ ...config, shutdown: { graceMs: 90_000 } }, {})).toEqual([]);
});
