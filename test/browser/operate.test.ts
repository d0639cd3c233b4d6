/** What comes by the clock, what is held or refused, how the channels stand, and who was turned away. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { agent } from "../../src/agents/agent-factory.ts";
import type { ScheduleSettings } from "../../src/gateway/settings.ts";
import type { Page as WirePage, WireDelivery, WireMessage } from "../../src/http/api.ts";
import { recordingChannel } from "../../src/test-kit/recording-channel.ts";
import { inChromium, startConsole } from "./support/browser.ts";

const newYear = "0 0 1 1 *";
const schedules: ScheduleSettings[] = [
  { id: "stand-up", cron: newYear, to: "web:main/team", text: "Stand-up!" },
  { id: "queue", cron: newYear, to: "web:main/ops", agent: "helper", text: "Look at the queue." },
  { id: "nowhere", cron: newYear, text: "Where does this go?" },
];

async function operated() {
  const phone = recordingChannel({
    kind: "phone",
    allow: { senders: ["5550100"], places: ["phone:test/5550100"] },
  });
  const helper = agent.fn(async (ctx) => {
    if (ctx.text === "cross") await ctx.send("web:main/elsewhere", "psst").catch(() => {});
    return `Done: ${ctx.text}`;
  });
  const console = await startConsole({ agents: { helper }, channels: [phone], schedules });
  return { ...console, phone };
}

const row = (page: Page, table: string, text: string) =>
  page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: text });

inChromium("schedules", () => {
  test("are listed with place, next and last; one is fired now, and one is disabled and enabled", async () => {
    const { window, gateway } = await operated();
    const page = await window("/schedules");
    const standUp = row(page, "Schedules", "stand-up");
    for (const text of ["Active", "Stand-up!", "0 0 1 1 * (UTC)", "from the settings", "team", "not yet"]) {
      await standUp.getByText(text).first().waitFor();
    }
    const next = standUp.getByText(/^in \d+ (day|hour|minute|second)/);
    await next.waitFor();
    expect(await row(page, "Schedules", "nowhere").innerText()).toContain("Would be held");
    await standUp.getByRole("button", { name: "Fire now: stand-up" }).click();
    await page.getByRole("dialog").getByText("Its times by the clock stay as they are.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Fire now" }).click();
    await standUp.getByRole("link", { name: /ago$/ }).waitFor();
    await next.waitFor();
    const { body } = await gateway.get<WirePage<WireMessage>>("/v1/messages?address=web:main/team");
    expect(body.items.map(({ text }) => text)).toEqual(["Stand-up!"]);
    await standUp.getByRole("button", { name: "Disable stand-up" }).click();
    await standUp.getByText("not while it is disabled").waitFor();
    await page.getByRole("button", { name: "Disabled", exact: true }).click();
    await page.getByText("1 schedule", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Enable stand-up" }).click();
    await page.getByText("No schedule is in this state.").waitFor();
    expect(new URL(page.url()).search).toBe("?state=disabled");
  });

  test("what one says without a place is held, and goes where an operator says", async () => {
    const { window, gateway } = await operated();
    const page = await window("/schedules");
    await page.getByRole("button", { name: "Fire now: nowhere" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Fire now" }).click();
    await row(page, "Schedules", "nowhere").getByRole("link", { name: /ago$/ }).click();
    await page.getByText("It is held back. It went nowhere else.").waitFor();
    await page.getByText("no destination is set").waitFor();
    expect(await page.getByRole("main").innerText()).toContain("none is guessed");
    await page.getByRole("link", { name: "Deliveries" }).first().click();
    await page.getByRole("button", { name: "Held" }).click();
    await page.getByText("1 delivery", { exact: true }).waitFor();
    expect(await row(page, "Deliveries", "By the clock").innerText()).toContain("no place yet");
    await page.getByRole("button", { name: "Give it a place" }).click();
    await page.getByRole("combobox", { name: "Address" }).fill("web:main/kitchen");
    await page.getByRole("button", { name: "Send it there" }).click();
    await page.getByText("No delivery fits these filters.").waitFor();
    const held = await gateway.get<WirePage<WireDelivery>>("/v1/deliveries?address=web:main/kitchen");
    expect(held.body.items.map(({ state, text }) => [state, text])).toEqual([
      ["delivered", "Where does this go?"],
    ]);
  });

  test("where there are none says how they are made", async () => {
    const { window } = await startConsole({ agents: { helper: agent.fn(async () => "Hi.") } });
    const page = await window("/schedules");
    await page.getByText("Nothing comes by the clock.").waitFor();
    await page.getByRole("link", { name: "Channels" }).first().click();
    await page.getByText("Nobody was turned away.").waitFor();
  });
});

inChromium("what was refused", () => {
  test("a send into another conversation is listed with its rule, and leads to its run", async () => {
    const { window, gateway } = await operated();
    const asked = await gateway.post("/v1/messages", { conversation: "alpha", text: "cross" });
    await gateway.ended(asked.body.run);
    const page = await window("/deliveries");
    await page.getByRole("button", { name: "Refused" }).click();
    const refused = row(page, "Refused sends", "helper to web:main/elsewhere");
    await refused.getByText("no rule lets a turn of this conversation post there").waitFor();
    await refused.getByText("named target").waitFor();
    await refused.getByRole("link", { name: /^helper to/ }).click();
    await page.getByRole("heading", { name: "Runs helper" }).waitFor();
    expect(page.url()).toContain(`/runs/${asked.body.run}`);
  });

  test("who was turned away stands with the id and the name, each to be copied", async () => {
    const { window, context, phone } = await operated();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await phone.receive("5550100", "let me in", { sender: "5550199", name: "Mallory" }).catch(() => {});
    const page = await window("/access");
    const denied = row(page, "Turned away", "Mallory");
    for (const text of ["5550199", "the sender is not on the allowlist", "1 time"]) {
      await denied.getByText(text).first().waitFor();
    }
    await denied.getByRole("button", { name: "Copy: the id of Mallory" }).click();
    await denied.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("5550199");
    await denied.getByRole("button", { name: "Copy: the name Mallory" }).click();
    await page.waitForFunction(async () => (await navigator.clipboard.readText()) === "Mallory");
    await row(page, "How they stand", "phone").getByText("On", { exact: true }).waitFor();
  });
});
