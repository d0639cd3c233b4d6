import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { agent } from "../../src/agents/agent-factory.ts";
import { inChromium, startConsole } from "./support/browser.ts";

const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);
const quiet = agent.fn(async (ctx) => ctx.silent());

const log = (page: Page) => page.getByRole("log", { name: "Messages" });

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Write a message" }).fill(text);
  await page.keyboard.press("Enter");
}

const hostile = `<img src=x onerror="window.hacked=1"> <script>window.hacked=1</script>
[run](javascript:window.hacked=1) ![pixel](https://tracker.example/p.png) <https://evil.example/x>
[https://bank.example](https://evil.example/login) [here](/v1/runs) &lt;b&gt; &#x3c;

<iframe src="https://evil.example"></iframe>

<div onclick="window.hacked=1">click</div>`;

/** Scrolls up by 100 px a frame; what was seen, and where a message moved by much more than that. Runs in the page. */
async function scrollUp(wanted: number) {
  const scroller = document.querySelector("[role=log]")!;
  let frames = 0;
  const jumps: string[] = [];
  const all = new Set<string>();
  let tops = new Map<string, number>();
  // A screen shows about three; a view that stood still would show no more, however many frames went by.
  while (all.size < wanted && frames < 20 * wanted) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    frames += 1;
    const next = new Map<string, number>();
    for (const article of scroller.querySelectorAll("article")) {
      const text = /question \d+/.exec(article.textContent ?? "")?.[0];
      if (text === undefined || !article.textContent?.includes("You said")) continue;
      const { top, bottom } = article.getBoundingClientRect();
      if (bottom < 0 || top > innerHeight) continue;
      all.add(text);
      next.set(text, top);
      const moved = top - (tops.get(text) ?? top);
      if (moved < -10 || moved > 250) jumps.push(`${text} moved by ${moved.toFixed(0)} in frame ${frames}`);
    }
    tops = next;
    scroller.scrollTop -= 100;
  }
  return { jumps, seen: all.size };
}

inChromium("hard inputs", () => {
  test("hostile Markdown and HTML is text: nothing runs, nothing is loaded, links say where they lead", async () => {
    const { window, url } = await startConsole({ agents: { echo } });
    const page = await window("/chat/web:main/alpha");
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:")) elsewhere.push(request.url());
    });
    await say(page, hostile);
    const answer = page.getByRole("article", { name: /^echo, / });
    await answer.getByText("<script>window.hacked=1</script>", { exact: false }).waitFor();
    const links = await answer
      .getByRole("link")
      .evaluateAll((found) =>
        found.map((link) => [link.getAttribute("href"), link.getAttribute("rel"), link.textContent]),
      );
    const outside = links.filter(([href]) => !href?.startsWith("/runs/"));
    expect(outside.map(([href]) => href)).toEqual([
      "https://tracker.example/p.png",
      "https://evil.example/x",
      "https://evil.example/login",
    ]);
    for (const [, rel] of outside) expect(rel).toContain("noopener");
    expect(outside[2]?.[2]).toBe("https://bank.example (evil.example)");
    expect(await answer.locator("img, iframe, script, [onclick]").count()).toBe(0);
    expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
    expect(elsewhere).toEqual([]);
  });

  test("a message of 200 kB is collapsed until all of it is wanted", async () => {
    const { window } = await startConsole({ agents: { quiet } });
    const page = await window("/chat/web:main/alpha");
    await say(page, `${"long words ".repeat(18_000)}the end`);
    const more = page.getByRole("button", { name: /^Show all of it/ });
    await more.waitFor();
    const article = page.getByRole("article").first();
    expect((await article.innerText()).length).toBeLessThan(7_000);
    await more.click();
    await page.getByRole("button", { name: "Show less" }).waitFor();
    expect(await article.innerText()).toContain("the end");
  });

  test("text from right to left stands at the right, beside text from left to right", async () => {
    const { window } = await startConsole({ agents: { quiet } });
    const page = await window("/chat/web:main/alpha");
    await say(page, "שלום לכולם");
    const text = page.getByRole("article", { name: /^Operator, \d/ }).getByText("שלום לכולם");
    await text.waitFor();
    expect(await text.evaluate((element) => getComputedStyle(element).direction)).toBe("rtl");
  });

  test("10,000 messages: the newest at once, the older page by page and without a jump", async () => {
    const { window, gateway } = await startConsole({ agents: { echo } });
    for (let n = 0; n < 5_000; n += 250) {
      const batch = Array.from({ length: 250 }, (_, i) =>
        gateway.post("/v1/messages", { conversation: "big", text: `question ${n + i}\n\n- one\n- **two**` }),
      );
      await Promise.all((await Promise.all(batch)).map(({ body }) => gateway.ended(body.run)));
    }
    const page = await window("/chat/web:main/big");
    await log(page).getByText("You said: question 4999").waitFor();
    expect(await log(page).getByRole("article").count()).toBeLessThan(60);
    const { jumps, seen } = await page.evaluate(scrollUp, 200);
    // Older messages came in front, and what was being read did not move by more than was scrolled.
    expect(seen).toBeGreaterThanOrEqual(200);
    expect(jumps).toEqual([]);
    expect(await log(page).getByRole("article").count()).toBeLessThan(80);
  });
});
