import { expect, onTestFinished, test } from "vitest";
import { agent } from "../agents/agent-factory.ts";
import type { Database } from "../db/database.ts";
import { manualClock } from "../kernel/clock.ts";
import { WaybillError } from "../kernel/errors.ts";
import { silentLogger } from "../kernel/logger.ts";
import { httpGateway } from "../../test/support/http-gateway.ts";
import type { FireOutput } from "./fire-schedule.ts";
import { Scheduler } from "./scheduler.ts";
import { createSchedules } from "./schedules.ts";
import type { ScheduleServices } from "./services.ts";

/** Far ahead, so that the gateway whose store it is has nothing to do with what comes here. */
const start = Date.UTC(2040, 0, 1);

type Fire = (real: () => Promise<FireOutput>) => Promise<FireOutput>;

/** A scheduler of its own on a gateway's store, whose firings go through `fire`. */
async function schedulerOn(fire: Fire) {
  const http = await httpGateway({
    agents: { echo: agent.fn(async (ctx) => ctx.text) },
    lastActive: true,
  });
  const { services: s, db: real } = http.running.parts;
  const clock = manualClock(start);
  const outcomes: string[] = [];
  let changed = Promise.withResolvers<void>();
  const note = (outcome: string): void => {
    outcomes.push(outcome);
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  const db = Object.create(real, {
    do: {
      value: async (...[command, input]: Parameters<Database["do"]>) => {
        if (command.name !== "schedules.fire") return real.do(command, input);
        const { id } = (input as { schedule: { id: string } }).schedule;
        return fire(() => real.do(command, input) as Promise<FireOutput>).then(
          (output) => {
            note(`${id} ${output.kind}`);
            return output;
          },
          (error: WaybillError) => {
            note(`${id} ${error.code}`);
            throw error;
          },
        );
      },
    },
  }) as Database;
  for (const name of ["read", "query", "notify"] as const) {
    Object.defineProperty(db, name, { value: real[name].bind(real) });
  }
  const nothing = (): void => {};
  const services: ScheduleServices = {
    ...s,
    db,
    clock,
    log: silentLogger,
    slots: true,
    agent: () => {
      throw new WaybillError("unknown_agent", "none");
    },
    hear: {
      posted: nothing,
      opsAdded: nothing,
      runsReady: nothing,
      schedulesChanged: nothing,
      held: nothing,
    },
  };
  const scheduler = new Scheduler(services);
  onTestFinished(() => scheduler.stop());
  const schedules = createSchedules(services);
  const posts = async (): Promise<string[]> => {
    const rows = await real.query((k) =>
      k.selectFrom("messages").select(["address", "text"]).where("role", "=", "assistant").orderBy("text"),
    );
    return rows.map(({ address, text }) => `${address} ${text}`);
  };
  /** Resolves when so many firings have ended, one way or another. */
  const happened = async (count: number): Promise<string[]> => {
    while (outcomes.length < count) await changed.promise;
    return outcomes;
  };
  return { http, clock, scheduler, schedules, posts, happened };
}

const away = new WaybillError("store_unavailable", "The connection was lost.");

test("a firing whose answer was lost with its connection is not repeated", async () => {
  let lost = 0;
  const { clock, scheduler, schedules, posts, happened } = await schedulerOn(async (real) => {
    const output = await real();
    lost += 1;
    if (lost === 1) throw away;
    return output;
  });
  await schedules.add({ id: "once", at: start + 60_000, to: "web:main/ops", text: "once" });
  await schedules.add({ id: "beat", cron: "* * * * *", to: "web:main/ops", text: "beat" });
  clock.advance(60_000);
  scheduler.start();
  await happened(2);
  expect(await posts()).toEqual(["web:main/ops beat", "web:main/ops once"]);
  clock.advance(60_000);
  scheduler.wake();
  await happened(3);
  expect(await posts()).toEqual(["web:main/ops beat", "web:main/ops beat", "web:main/ops once"]);
});

test("one that fails holds up no other, and comes once the store is there again", async () => {
  let broken = true;
  const failing: Fire = (real) => (broken ? Promise.reject(away) : real());
  const { clock, scheduler, schedules, posts, happened } = await schedulerOn(failing);
  await schedules.add({ id: "a", at: start + 1_000, to: "web:main/ops", text: "a" });
  await schedules.add({ id: "b", at: start + 2_000, to: "web:main/ops", text: "b" });
  clock.advance(5_000);
  scheduler.start();
  expect(await happened(2)).toEqual(["a store_unavailable", "b store_unavailable"]);
  expect(await posts()).toEqual([]);
  broken = false;
  scheduler.wake();
  expect((await happened(4)).slice(2)).toEqual(["a fired", "b fired"]);
  expect(await posts()).toEqual(["web:main/ops a", "web:main/ops b"]);
});

test("a slot that moves between the look and the commit is asked again", async () => {
  let speak = async (): Promise<void> => {};
  const moving = await schedulerOn(async (real) => {
    await speak();
    return real();
  });
  const { http, clock, scheduler, schedules, posts, happened } = moving;
  const say = async (conversation: string): Promise<void> => {
    const { body } = await http.post("/v1/messages", { conversation, text: "hello" });
    await http.ended(body.run);
  };
  await say("first");
  speak = async () => {
    speak = async () => {};
    await say("second");
  };
  await schedules.add({ id: "s", at: start + 1, to: "last-active", account: "web:main", text: "slot" });
  clock.advance(10);
  scheduler.start();
  await happened(1);
  scheduler.wake();
  expect(await happened(2)).toEqual(["s moved", "s fired"]);
  expect((await posts()).filter((post) => post.endsWith("slot"))).toEqual(["web:main/second slot"]);
});
