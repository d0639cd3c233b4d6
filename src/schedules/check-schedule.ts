import { cronProblem, defaultTimeZone, timeZoneProblem } from "./cadence.ts";
import { scheduleId, scheduleIdRule } from "./schedule.ts";
import { targetProblems } from "./target.ts";

/** A schedule as somebody writes it: in the settings, or in a request. */
export interface WrittenSchedule {
  id?: string;
  cron?: string;
  timeZone?: string;
  /** Milliseconds since 1970, for once. */
  at?: number;
  to?: string;
  account?: string;
  agent?: string;
  text: string;
}

export interface ScheduleProblem {
  field: string;
  rule: string;
}

/** Characters of what a schedule says or asks, at most. */
const TEXT_MOST = 10_000;

/** Further away than that, nobody means it. */
const YEARS_MOST_MS = 10 * 366 * 86_400_000;

/** All that is wrong with a schedule; what is only incomplete is not wrong. */
export function scheduleProblems(
  written: WrittenSchedule,
  context: { now: number; agentProblem(name: string): string | null },
): ScheduleProblem[] {
  const { id, timeZone = defaultTimeZone, to = null, account = null, agent, text } = written;
  const problems: ScheduleProblem[] = [];
  const add = (field: string, rule: string | null): void => {
    if (rule !== null) problems.push({ field, rule });
  };
  if (id !== undefined && !scheduleId.test(id)) add("id", scheduleIdRule);
  const zone = timeZoneProblem(timeZone);
  add("timeZone", zone);
  problems.push(...timeProblems(written, zone === null ? timeZone : defaultTimeZone, context.now));
  problems.push(...targetProblems({ to, account }));
  if (agent !== undefined) add("agent", context.agentProblem(agent));
  if (text.trim() === "") add("text", "is empty: write what is to be said, or what the agent is asked.");
  if (text.length > TEXT_MOST) add("text", `has at most ${TEXT_MOST} characters.`);
  return problems;
}

function timeProblems({ cron, at }: WrittenSchedule, timeZone: string, now: number): ScheduleProblem[] {
  if ((cron === undefined) === (at === undefined)) {
    return [{ field: "cron", rule: "or a time for once: give one of the two." }];
  }
  if (cron !== undefined) {
    const rule = cronProblem(cron, timeZone);
    return rule === null ? [] : [{ field: "cron", rule }];
  }
  const far = (at ?? 0) - now;
  if (far > YEARS_MOST_MS) return [{ field: "at", rule: "is more than ten years away." }];
  return far < 0 ? [{ field: "at", rule: "is past." }] : [];
}
