/** A gateway on which every page of the console has something to show, and where those pages are. */
import type { Page as BrowserPage } from "playwright-core";
import { guideAgents } from "../../src/agents/guide/guide-agents.ts";
import type { Page, WireDelivery } from "../../src/http/api.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { recordingChannel } from "../../src/test-kit/recording-channel.ts";
import { alice, ask, operatorSeed, seedAll } from "./operator-seed.ts";
import { startConsole, type ConsoleOptions } from "./support/browser.ts";

const poster = `Two ways, by what matters more:

1. **Paper** is cheap, see [the list](https://example.com/paper).
2. **Cloth** lasts:

\`\`\`ts
const metres = (posters: number): number => posters * 1.2;
\`\`\`

| way   | price |
| ----- | ----- |
| paper | 3     |
| cloth | 12    |`;

/** Starts it, with a browser. */
export async function startEveryPage(options: ConsoleOptions = {}) {
  const seed = operatorSeed();
  const pager = recordingChannel({ kind: "pager", allow: { senders: ["ada"], places: ["pager:test/ada"] } });
  const console = await startConsole(
    {
      ...seed.config,
      agents: { ...seed.config.agents, ...guideAgents({ clock: systemClock }) },
      channels: [...(seed.config.channels ?? []), pager],
      schedules: [
        {
          id: "stand-up",
          cron: "55 8 * * 1-5",
          timeZone: "Asia/Seoul",
          to: "web:main/team",
          text: "Stand-up!",
        },
        {
          id: "queue",
          cron: "*/30 * * * *",
          to: "web:main/ops",
          agent: "helper",
          text: "Look at the queue.",
        },
        { id: "nowhere", cron: "0 9 * * *", text: "Good morning." },
      ],
    },
    { ...options, gateway: { clock: seed.clock } },
  );
  const { gateway } = console;
  const all = await seedAll(gateway, seed);
  await pager.receive("ada", "let me in", { sender: "mallory-7", name: "Mallory" }).catch(() => {});
  const said = await ask(gateway, "workshop", poster, { agent: "helper", sender: alice });
  await gateway.ended(said.run);
  const there = {
    conversation: "workshop",
    thread: said.message,
    agent: "helper",
    text: "Which one is greener?",
  };
  const reply = await gateway.post("/v1/messages", { ...there, sender: alice });
  await gateway.ended(reply.body.run);
  const held = gateway.hint((one) => one.kind === "delivery");
  await gateway.post("/v1/schedules/nowhere/fire");
  await held;
  const dead = await gateway.get<Page<WireDelivery>>("/v1/deliveries?state=dead");
  const pages = {
    new: "/chat/new",
    chat: `/chat/web:main/workshop?thread=${said.message}`,
    runs: "/runs",
    "runs-none": "/runs?text=nobody+asked+this",
    stuck: "/runs?view=stuck",
    run: `/runs/${all.boss.run}`,
    "run-failed": `/runs/${all.failed.run}`,
    "run-live": `/runs/${all.going.run}`,
    deliveries: "/deliveries",
    delivery: `/deliveries/${dead.body.items[0]?.id}`,
    refused: "/deliveries?view=refused",
    schedules: "/schedules",
    channels: "/access",
    guide: "/guide",
  };
  return { ...console, pages };
}

/** Goes to a page and waits until it shows what it has. */
export async function openPage(page: BrowserPage, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole("main").getByRole("heading", { level: 1 }).waitFor();
  const loading = page.getByRole("status", { name: /^(Loading|불러오는 중)$/ });
  for (const one of await loading.all()) await one.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.querySelector("[role=status][aria-label]") === null);
}
