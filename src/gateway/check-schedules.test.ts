import { describe, expect, test } from "vitest";
import { agent } from "../agents/agent-factory.ts";
import { checkSettings, settingIssues } from "./check-settings.ts";
import type { ScheduleSettings, WaybillConfig } from "./settings.ts";

const agents = { assistant: agent.fn(async (ctx) => ctx.text) };
const beat: ScheduleSettings = { id: "beat", cron: "0 9 * * *", to: "web:main/ops", text: "hello" };

function said(schedules: unknown): string[] {
  return settingIssues({ agents, schedules }).map(({ field, rule }) => `${field} ${rule}`);
}

test("schedules with every field are right, and what is only incomplete is not wrong", () => {
  expect(said([{ ...beat, timeZone: "Asia/Seoul", agent: "assistant" }])).toEqual([]);
  expect(said([{ ...beat, to: "last-active", account: "web:main" }])).toEqual([]);
  expect(
    said([
      { id: "a", cron: "@hourly", text: "x" },
      { ...beat, to: "slack:T1" },
    ]),
  ).toEqual([]);
});

describe("what cannot work is refused, and its field is named", () => {
  test.each<[Record<string, unknown>, string]>([
    [{ cron: "every day" }, "schedules[0].cron is no cron pattern."],
    [{ cron: "0 25 * * *" }, "schedules[0].cron is no cron pattern: Invalid value for hour: 25."],
    [{ cron: "0 0 30 2 *" }, "schedules[0].cron never comes"],
    [{ timeZone: "Berlin" }, "schedules[0].timeZone is no time zone."],
    [{ to: "general" }, "schedules[0].to is no place"],
    [{ to: "latest-seen" }, "schedules[0].account is missing"],
    [{ account: "web:main" }, "schedules[0].account goes only with"],
    [{ agent: "asistant" }, 'schedules[0].agent names the agent "asistant", which is not in agents.'],
    [{ id: "My beat" }, "schedules[0].id is no id for a schedule"],
    [{ text: "" }, "schedules[0].text is empty"],
    [{ tz: "UTC" }, "schedules[0].tz is not a setting."],
    [{ cron: 5 }, "schedules[0].cron must be a cron pattern"],
    [{ text: undefined }, "schedules[0].text must be a text"],
  ])("%j", (wrong, rule) => {
    expect(said([{ ...beat, ...wrong }])).toEqual([expect.stringContaining(rule)]);
  });

  test("an id twice, and a list that is none", () => {
    expect(said([beat, beat])).toEqual(["schedules[1].id is there once more. Give it another id."]);
    expect(said({ beat })).toEqual(["schedules must be a list: [ ... ]."]);
    expect(said([null, "beat"]).length).toBe(2);
  });
});

test("what will be held is told before it is", () => {
  const config: WaybillConfig = {
    agents,
    schedules: [
      beat,
      { id: "nowhere", cron: "@daily", text: "x" },
      { id: "slot", cron: "@daily", text: "x", to: "last-active", account: "web:main" },
      { id: "slack", cron: "@daily", text: "x", to: "slack:T1/C1" },
    ],
  };
  expect(checkSettings(config, {})).toEqual([
    "schedules[1] (nowhere): what it says will be held, because no destination is set.",
    "schedules[2] (slot): what it says will be held, because lastActive is off, and it goes to last-active.",
    "schedules[3] (slack): what it says will be held, because no channel slack is configured.",
  ]);
  expect(checkSettings({ ...config, lastActive: true }, {})).toHaveLength(2);
});
