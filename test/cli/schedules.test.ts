import { expect, test } from "vitest";
import type { Page, WireDelivery, WireSchedule } from "../../src/http/api.ts";
import { folder, run, serve } from "./process.ts";

const settings = `
  import { agent, defineConfig } from "waybill";
  export default defineConfig({
    agents: { echo: agent.fn(async (ctx) => "Echo: " + ctx.text) },
    schedules: [{ id: "beat", cron: "0 9 * * 1-5", timeZone: "Europe/Berlin", text: "Good morning." }],
  });
`;

test("schedules are listed, added, disabled and completed from a shell, and what is held is sent", async () => {
  const cwd = folder({ "waybill.config.ts": settings });
  const { cli, url } = await serve(cwd);
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await run([...args, "--json"], { cwd })).out) as T;

  const beat = (await json<Page<WireSchedule>>("schedules", "list")).items[0];
  expect(beat).toMatchObject({ id: "beat", source: "settings", incomplete: "no destination is set" });
  const shown = await run(["schedules", "show", "beat"], { cwd });
  expect(shown.out).toContain("0 9 * * 1-5 (Europe/Berlin)");
  expect(shown.out).toMatch(/^held +no destination is set$/m);

  expect(await json("schedules", "disable", "beat")).toMatchObject({ state: "disabled", nextAt: null });

  const body = JSON.stringify({ id: "tea", inMs: 0, text: "Tea?" });
  const headers = { "content-type": "application/json" };
  expect((await fetch(`${url}/v1/schedules`, { method: "POST", headers, body })).status).toBe(201);
  await cli.says(/what a schedule says is held/, "err");
  const held = (await json<Page<WireDelivery>>("deliveries", "list", "--state", "held")).items[0];
  expect(held).toMatchObject({ schedule: "tea", address: "", reason: "no destination is set" });
  expect(await json("deliveries", "retry", held?.id ?? "", "--to", "web:main/kitchen")).toMatchObject({
    state: "delivered",
  });

  const added = [
    "schedules",
    "add",
    "Lunch!",
    "--id",
    "lunch",
    "--cron",
    "0 12 * * *",
    "--to",
    "web:main/team",
  ];
  expect(await json(...added)).toMatchObject({ id: "lunch", timeZone: "UTC", to: "web:main/team" });
  expect(await json("schedules", "fire", "lunch")).toMatchObject({ id: "lunch", state: "active" });
  cli.signal("SIGTERM");
  await cli.ended;

  // Without a server the store is read; nothing can be changed.
  const table = await run(["schedules", "list"], { cwd });
  expect(table.out).toMatch(/^lunch +active .*web:main\/team$/m);
  expect((await run(["schedules", "remove", "lunch"], { cwd })).code).toBe(6);
});
