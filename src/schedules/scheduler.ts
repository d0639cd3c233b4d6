import { asWaybillError } from "../kernel/errors.ts";
import { nextTime } from "./cadence.ts";
import { planEffect } from "./effect.ts";
import { fireSchedule, type FireInput, type FireOutput } from "./fire-schedule.ts";
import { readDue, readNextDue } from "./read-schedules.ts";
import { tellFired } from "./release-held.ts";
import { resolveDestination, type Missing, type Resolved } from "./resolve-destination.ts";
import type { ScheduleRecord } from "./schedule.ts";
import type { ScheduleServices } from "./services.ts";

/** Schedules looked at in one go. */
const BATCH = 50;
/** How often a node looks by itself; the timer of the next one and wake-ups make it exact, and losing one costs this. */
const POLL_MS = 30_000;
/** The pause after the store failed, or something due could not be fired. */
const AGAIN_MS = 1_000;
/** On a store that nodes share, how long a node that lacks an agent leaves a schedule to one that may have it. */
const ELSEWHERE_MS = 60_000;

/**
 * Fires what is due. Every node looks, and the store decides who was first. A time that nobody was there for comes once
 * with the next look, however many times were missed.
 */
export class Scheduler {
  readonly #s: ScheduleServices;
  #open = false;
  #again = false;
  #looking: Promise<void> | null = null;
  #cancelTimer: () => void = () => {};

  constructor(services: ScheduleServices) {
    this.#s = services;
  }

  start(): void {
    this.#open = true;
    this.wake();
  }

  /** Something may be due, or was changed. Cheap to call often. */
  wake(): void {
    this.#again = true;
    if (!this.#open || this.#looking) return;
    this.#looking = this.#look().finally(() => {
      this.#looking = null;
      if (this.#again && this.#open) this.wake();
    });
  }

  /** Fires nothing more; resolves when what was being fired is committed. */
  async stop(): Promise<void> {
    this.#open = false;
    this.#cancelTimer();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { tenant, db, clock, log } = this.#s;
    while (this.#again && this.#open) {
      this.#again = false;
      try {
        const due = await readDue(db, tenant, clock.now(), BATCH);
        const left = await this.#fireAll(due);
        if (due.length === BATCH && left < BATCH) this.#again = true;
        if (left > 0) this.#arm(AGAIN_MS);
        else await this.#armNext();
      } catch (error) {
        log.error({ error: String(error) }, "schedules could not be looked for");
        this.#arm(AGAIN_MS);
      }
    }
  }

  /** @returns how many are still due */
  async #fireAll(due: readonly ScheduleRecord[]): Promise<number> {
    let left = 0;
    for (const schedule of due) {
      if (!this.#open) break;
      try {
        if (!(await this.#fire(schedule))) left += 1;
      } catch (error) {
        // One that fails must not hold up the others; it stays due.
        left += 1;
        this.#s.log.error({ schedule: schedule.id, error: String(error) }, "a schedule could not be fired");
      }
    }
    return left;
  }

  async #armNext(): Promise<void> {
    const { tenant, db, clock } = this.#s;
    const next = await readNextDue(db, tenant);
    const inMs = next === null ? POLL_MS : Math.min(POLL_MS, next - clock.now());
    if (inMs > 0) this.#arm(inMs);
    else this.#again = true; // Became due meanwhile.
  }

  #arm(ms: number): void {
    this.#cancelTimer();
    if (this.#open) this.#cancelTimer = this.#s.clock.after(ms, () => this.wake());
  }

  /** @returns false if it stays due */
  async #fire(schedule: ScheduleRecord): Promise<boolean> {
    const s = this.#s;
    const now = s.clock.now();
    const due = schedule.nextAt ?? now;
    const problem = agentProblem(s, schedule);
    if (problem !== null && s.db.dialect === "postgres" && now - due < ELSEWHERE_MS) return false;
    const resolved = problem === null ? await resolveDestination(s, schedule) : held(problem);
    const input = plan(s, schedule, resolved, now);
    const output = await s.db.do(fireSchedule, input);
    this.#tell(schedule, output);
    // The slot moved in this moment: the timer asks again.
    return output.kind !== "moved";
  }

  #tell(schedule: ScheduleRecord, output: FireOutput): void {
    const s = this.#s;
    if (output.kind === "held") {
      s.log.warn({ schedule: schedule.id, delivery: output.delivery }, "what a schedule says is held");
      s.hear.held(output.delivery, "");
    }
    if (output.kind !== "fired") return;
    const { run, delivery } = output.fired;
    s.log.info({ schedule: schedule.id, run, delivery }, "a schedule was fired");
    tellFired(s, output.fired);
  }
}

function agentProblem(s: ScheduleServices, { agent }: ScheduleRecord): string | null {
  if (agent === null) return null;
  try {
    s.agent(agent);
    return null;
  } catch (thrown) {
    return asWaybillError(thrown).message.replace(/\.$/, "");
  }
}

function held(reason: string): Missing {
  return { kind: "held", address: "", rule: "configured", rejected: [], reason };
}

function plan(s: ScheduleServices, schedule: ScheduleRecord, resolved: Resolved, now: number): FireInput {
  const due = schedule.nextAt ?? now;
  const { id, cron, timeZone, agent, text, askedBy, trace } = schedule;
  const base = {
    tenant: s.tenant,
    schedule,
    due,
    // From now on, not from what was due: of many that were missed, one comes.
    nextAt: cron === null ? null : nextTime({ cron, timeZone }, Math.max(now, due)),
    at: now,
  };
  if (resolved.kind !== "found") {
    return { ...base, slot: null, firing: { kind: "hold", id: s.ids.next("dlv"), missing: resolved } };
  }
  const slot = resolved.slot && { ...resolved.slot, address: resolved.place.address };
  const firing = planEffect(s, { schedule: id, content: { agent, text }, askedBy, trace }, resolved);
  return { ...base, slot, firing };
}
