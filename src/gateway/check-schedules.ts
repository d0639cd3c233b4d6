import { didYouMean } from "../agents/agent-options.ts";
import { systemClock } from "../kernel/clock.ts";
import { scheduleProblems } from "../schedules/check-schedule.ts";
import { readTarget } from "../schedules/target.ts";
import type { SettingIssue } from "./check-settings.ts";
import type { ScheduleSettings, WaybillConfig } from "./settings.ts";

/** What is wrong with the schedules of settings; what the schema has said already is left to it. */
export function scheduleIssues({ schedules, agents }: Partial<WaybillConfig>): SettingIssue[] {
  const names = typeof agents === "object" && agents !== null ? Object.keys(agents) : [];
  const seen = new Set<string>();
  const agentProblem = (name: string): string | null =>
    names.includes(name)
      ? null
      : `names the agent "${name.slice(0, 80)}", which is not in agents. ${didYouMean(name, names)}`;
  return listOf(schedules).flatMap((one, i) => {
    const problems = scheduleProblems(one, { now: systemClock.now(), agentProblem });
    if (seen.has(one.id)) problems.push({ field: "id", rule: "is there once more. Give it another id." });
    seen.add(one.id);
    return problems.map(({ field, rule }) => ({ field: `schedules[${i}].${field}`, rule }));
  });
}

/** Schedules whose output will be held, as far as the settings alone can tell. */
export function scheduleWarnings(config: WaybillConfig): string[] {
  const kinds = new Set(["web", ...(config.channels ?? []).map(({ kind }) => kind)]);
  return listOf(config.schedules).flatMap((one, i) => {
    const reason = heldBecause(one, config, kinds);
    const field = `schedules[${i}]`;
    return reason === null ? [] : [`${field} (${one.id}): what it says will be held, because ${reason}.`];
  });
}

function heldBecause(
  { to, account }: ScheduleSettings,
  { lastActive }: WaybillConfig,
  kinds: ReadonlySet<string>,
): string | null {
  const target = readTarget({ to: to ?? null, account: account ?? null });
  if (target.kind === "incomplete") return target.reason;
  if (target.kind === "slot" && lastActive !== true)
    return `lastActive is off, and it goes to ${target.slot}`;
  const channel = target.kind === "slot" ? target.channel : target.address.channel;
  return kinds.has(channel) ? null : `no channel ${channel} is configured`;
}

/** Those that are whole enough to be looked at. */
function listOf(schedules: unknown): ScheduleSettings[] {
  if (!Array.isArray(schedules)) return [];
  return (schedules as unknown[]).filter(isWhole);
}

function isWhole(value: unknown): value is ScheduleSettings {
  if (typeof value !== "object" || value === null) return false;
  const { id, cron, text, ...rest } = value as Record<string, unknown>;
  const texts = [id, cron, text, ...["timeZone", "to", "account", "agent"].map((key) => rest[key] ?? "")];
  return texts.every((one) => typeof one === "string");
}
