import { mkdirSync } from "node:fs";
import path from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { agent } from "../../src/agents/agent-factory.ts";
import { inChromium, startConsole } from "./support/browser.ts";

const shots = path.resolve(import.meta.dirname, "../../test-results/shots");
const echo = agent.fn(async (ctx) => `You said: ${ctx.text}\n\n- a list\n- [a link](https://example.com)`);

/** What axe finds that is serious or worse, each with where. */
async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page: page as never }).analyze();
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary}`),
    );
}

const looks = [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["a phone", { viewport: { width: 390, height: 844 }, hasTouch: true }],
  ["Korean", { locale: "ko-KR" }],
] as const;

inChromium("axe finds nothing serious in the chat", () => {
  test.each(looks)("in %s", async (name, options) => {
    const { window, gateway, context } = await startConsole({ agents: { echo } }, options);
    const page = await window("/chat/new");
    await page.getByRole("textbox").last().waitFor();
    expect(await violations(page)).toEqual([]);
    const { body } = await gateway.post("/v1/messages", {
      conversation: "alpha",
      kind: "channel",
      text: "`hello`",
    });
    const there = { conversation: "alpha", thread: body.message, text: "in its thread" };
    const reply = await gateway.post("/v1/messages", there);
    await Promise.all([gateway.ended(body.run), gateway.ended(reply.body.run)]);
    await page.goto(page.url().replace("/chat/new", `/chat/web:main/alpha?thread=${body.message}`));
    await page.getByRole("article").last().waitFor();
    await page.getByText("You said: in its thread").waitFor();
    expect(await violations(page)).toEqual([]);
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: path.join(shots, `chat-${name.replaceAll(" ", "-")}.png`) });
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    expect(await violations(page)).toEqual([]);
    expect(context.pages()).toContain(page);
  });
});
