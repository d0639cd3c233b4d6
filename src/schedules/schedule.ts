import type { TargetWish } from "./target.ts";

/**
 * Something that comes by the clock: a heartbeat (cron) or a reminder (once).
 *
 *              enable                      the settings name it again
 *   disabled <--------> active -----> removed ------------------------> active
 *              disable    |   left out of the settings
 *                         | fired, and it was for once
 *                         v
 *                        done
 *
 * Terms: *target*: where its output goes, as it was written: an address, part of one, or a slot. *firing*: what happens
 * at its time: a turn with a run, a delivery, or, where the target is no whole place, a delivery that is held.
 */
export type ScheduleState = "active" | "disabled" | "done" | "removed";

/** Who made it: the settings, an operator, or a run (a reminder). */
export type ScheduleSource = "settings" | "api" | "agent";

/** What a schedule does, without when it was made and how it stands. */
export interface ScheduleSpec extends TargetWish {
  id: string;
  source: ScheduleSource;
  /** Null: once, at `nextAt`. */
  cron: string | null;
  timeZone: string;
  /** The agent that is asked `text`; null: `text` itself is posted. */
  agent: string | null;
  text: string;
  /** The run that asked for it, and the trace to which it belongs. */
  askedBy: string | null;
  trace: string | null;
}

export interface ScheduleRecord extends ScheduleSpec {
  state: ScheduleState;
  /** Milliseconds since 1970, like all times here. */
  nextAt: number | null;
  lastAt: number | null;
  lastRun: string | null;
  lastDelivery: string | null;
  createdAt: number;
}

/** What may be a schedule's id. */
export const scheduleId = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const scheduleIdRule =
  "is no id for a schedule: use a to z, 0 to 9, _ and -, at most 64, no - or _ at the start.";
