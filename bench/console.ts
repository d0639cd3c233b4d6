/** The console in real Chromium: how soon it can be seen and used, how it scrolls, and how it types beside 50 streams. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type BrowserContext, type Page } from "playwright-core";
import { agent } from "../src/agents/agent-factory.ts";
import { serve } from "../src/http/serve.ts";
import { findChromium } from "../test/support/services.ts";
import { benchGateway } from "./support/gateway.ts";
import { atLeast, atMost, median, quantile, report, type Figure } from "./support/figures.ts";

const found = findChromium();
if (!found.found) throw new Error(`${found.reason}; to get it: ${found.command}`);
const executablePath = found.url;

const built = spawnSync(process.execPath, [
  fileURLToPath(new URL("../scripts/build-console.ts", import.meta.url)),
  "--if-stale",
]);
if (built.status !== 0) throw new Error(String(built.stderr));

/** A token each 20 ms, until the gateway stops: what a fast model does. */
const talker = agent.fn(async function* (ctx) {
  for (let n = 0; !ctx.signal.aborted; n += 1) {
    yield `word ${n} `;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);

const gateway = await benchGateway({
  agents: { echo, talker },
  routes: Array.from({ length: 50 }, (_, n) => ({ in: `web:main/stream${n}`, agent: "talker" })),
});
const server = await serve((request, env) => gateway.running.fetch(request, env), {
  host: "127.0.0.1",
  port: 0,
});

/** A browser that has never been here. */
async function withBrowser<T>(use: (context: BrowserContext) => Promise<T>): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), "waybill-bench-chromium-"));
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
  ];
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args,
    viewport: { width: 1280, height: 800 },
  });
  try {
    return await use(context);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function open(context: BrowserContext, where: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${server.url}${where}`);
  return page;
}

/** Seconds from the navigation to the first text, and to a composer that shows what was typed into it. */
async function load(): Promise<{ paint: number; interactive: number }> {
  return withBrowser(async (context) => {
    const page = await open(context, "/chat/web:main/alpha");
    const composer = page.getByRole("textbox", { name: "Write a message" });
    await composer.fill("x");
    return page.evaluate(() => {
      const [paint] = performance.getEntriesByName("first-contentful-paint");
      return { paint: (paint?.startTime ?? Number.NaN) / 1_000, interactive: performance.now() / 1_000 };
    });
  });
}

/** Frames a second while a conversation of 10,000 messages is scrolled up by 100 px a frame. */
async function scroll(): Promise<number> {
  const ended = Promise.withResolvers<void>();
  let answers = 0;
  gateway.parts.feed.subscribe("web:main/big", (hint) => {
    if (hint.kind === "run" && hint.state === "completed") answers += 1;
    if (answers === 5_000) ended.resolve();
  });
  for (let n = 0; n < 5_000; n += 250) {
    const batch = Array.from({ length: 250 }, (_, i) =>
      gateway.say("big", `question ${n + i}\n\n- one\n- **two**`),
    );
    await Promise.all(batch);
  }
  await ended.promise;
  return withBrowser(async (context) => {
    const page = await open(context, "/chat/web:main/big");
    await page.getByRole("log").getByText("You said: question 4999").waitFor();
    return page.evaluate(async () => {
      const scroller = document.querySelector("[role=log]")!;
      const began = performance.now();
      let frames = 0;
      while (performance.now() - began < 5_000) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        frames += 1;
        scroller.scrollTop -= 100;
      }
      return (frames / (performance.now() - began)) * 1_000;
    });
  });
}

/** Milliseconds from each key to the frame that shows it, while 50 conversations stream and one of them is open. */
async function type(): Promise<number[]> {
  await Promise.all(Array.from({ length: 50 }, (_, n) => gateway.say(`stream${n}`, "go on")));
  return withBrowser(async (context) => {
    const page = await open(context, "/chat/web:main/stream0");
    await page.getByText("word 20 ").first().waitFor();
    await page.evaluate(() => {
      const spent: number[] = [];
      Object.assign(window, { spent });
      addEventListener("keydown", ({ timeStamp }) =>
        requestAnimationFrame(() => requestAnimationFrame(() => spent.push(performance.now() - timeStamp))),
      );
    });
    await page.getByRole("textbox", { name: "Write a message" }).focus();
    await page.keyboard.type("the quick brown fox jumps over the lazy dog, and once more", { delay: 60 });
    return page.evaluate(() => (window as never as { spent: number[] }).spent);
  });
}

const loads: { paint: number; interactive: number }[] = [];
for (let n = 0; n < 5; n += 1) loads.push(await load());
const frames = await scroll();
const keys = await type();
const figures: Figure[] = [
  atMost("first paint, median of 5 new browsers", median(loads.map(({ paint }) => paint)), 1, "s"),
  atMost("interactive, median of 5", median(loads.map(({ interactive }) => interactive)), 2, "s"),
  atLeast("scrolling 10,000 messages", frames, 50, "frames/s"),
  atMost("a key is shown beside 50 streams, p95", quantile(keys, 0.95), 100, "ms"),
];
report(figures);
await server.close();
await gateway.stop();
process.exit(0);
