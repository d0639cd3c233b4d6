import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { renderText } from "../../src/texts/render.ts";
import { alice, ask, operatorSeed, seedAll } from "./operator-seed.ts";
import { scenario } from "../spec/scenario.ts";
import { inChromium, startConsole } from "./support/browser.ts";

async function seeded(options: Parameters<typeof startConsole>[1] = {}) {
  const seed = operatorSeed();
  const console = await startConsole(seed.config, { gateway: { clock: seed.clock }, ...options });
  return { ...console, seed, all: await seedAll(console.gateway, seed) };
}

const rows = (page: Page, name = "Runs") => page.getByRole("table", { name }).getByRole("row");
const row = (page: Page, text: string | RegExp) => rows(page).filter({ hasText: text });
const search = (page: Page) => new URL(page.url()).searchParams;

inChromium("the list of runs", () => {
  test("tells state, agent, question, who asked, place, progress and why one failed", async () => {
    const { window } = await seeded();
    const page = await window("/runs");
    const live = row(page, "Read the long report");
    await live.waitFor();
    for (const text of [
      "Running",
      "patient",
      "asked by Alice",
      "read 3 of 12 pages",
      "library",
      "10 minutes",
    ]) {
      expect(await live.innerText()).toContain(text);
    }
    const failed = await row(page, "Print the poster").innerText();
    for (const text of ["Failed", "broken", "asked by Bob", "the agent failed", "workshop"]) {
      expect(failed).toContain(text);
    }
    expect(await row(page, "Count the boxes").innerText()).toContain("job");
  });

  test("filters stand in the URL, by clicks and the other way round", async () => {
    const { window } = await seeded();
    const page = await window("/runs");
    await row(page, "What is for lunch?").waitFor();
    await page.getByRole("button", { name: "Failed" }).click();
    await row(page, "What is for lunch?").waitFor({ state: "detached" });
    expect(await rows(page).count()).toBe(2);
    expect(search(page).get("state")).toBe("failed,interrupted");
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("helper");
    await row(page, "Print the poster").waitFor({ state: "detached" });
    expect(search(page).get("agent")).toBe("helper");
    await page.getByRole("combobox", { name: "Agent" }).selectOption("");
    await page.getByRole("combobox", { name: "Place" }).selectOption("web:main/workshop");
    await row(page, "What is for lunch?").waitFor({ state: "detached" });
    expect(search(page).get("place")).toBe("web:main/workshop");
    await page.getByRole("searchbox", { name: "Search questions and people" }).fill("POSTER");
    await row(page, "Count the boxes").waitFor({ state: "detached" });
    expect(search(page).get("text")).toBe("POSTER");
    await page.reload();
    await row(page, "Print the poster").waitFor();
    expect(await rows(page).count()).toBe(2);
    await page.getByRole("searchbox").fill("nobody asked this");
    await page.getByRole("button", { name: "Show all runs" }).click();
    await row(page, "What is for lunch?").waitFor();
    expect([...search(page)]).toEqual([]);
  });

  test("is live: what begins and ends elsewhere is seen without reloading", async () => {
    const { window, gateway, seed } = await seeded();
    const page = await window("/runs");
    await row(page, "Read the long report").waitFor();
    await ask(gateway, "alice", "And for dinner?", { sender: alice });
    await row(page, "And for dinner?").getByText("Completed").waitFor();
    seed.letGo();
    await row(page, "Read the long report").getByText("Completed").waitFor();
  });

  test("goes by j and k, and opens with Enter", async () => {
    const { window, all } = await seeded();
    const page = await window("/runs");
    await row(page, "Print the poster").waitFor();
    const names: string[] = [];
    for (const key of ["j", "j", "j", "k", "j", "j"]) {
      await page.keyboard.press(key);
      names.push(await page.evaluate(() => document.activeElement?.textContent ?? ""));
    }
    expect(names.map((name) => name.split(/(?=[A-Z])/)[0])).toEqual([
      "helper",
      "counter",
      "boss",
      "counter",
      "boss",
      "broken",
    ]);
    await page.keyboard.press("Enter");
    await page.getByText("The printer is on fire.").first().waitFor();
    expect(page.url()).toContain(`/runs/${all.failed.run}`);
  });

  test("stops a run after asking, and asks a failed one again, in place", async () => {
    const { window, gateway, seed, all } = await seeded();
    const page = await window("/runs");
    const live = row(page, "Read the long report");
    await live.getByRole("button", { name: "Stop patient" }).click();
    await page.getByRole("button", { name: "Let it go on" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await live.getByRole("button", { name: "Stop patient" }).click();
    await page.getByRole("button", { name: "Stop the run" }).click();
    await live.getByText("Stopped", { exact: true }).waitFor();
    expect(await gateway.ended(all.going.run)).toBe("cancelled");
    seed.broken.now = false;
    await row(page, "Print the poster").getByRole("button", { name: "Retry broken" }).click();
    await row(page, "Print the poster").getByText("Completed").waitFor();
    await row(page, "Print the poster").getByRole("link", { name: "Asked again" }).click();
    await page.getByText("It is well again.").first().waitFor();
  });

  test("shows what is stuck one click away: what goes on for long, and posts that did not arrive", async () => {
    const { window } = await seeded();
    const page = await window("/runs");
    await page.getByRole("button", { name: "Stuck 2" }).click();
    const runs = rows(page, "Runs that have not ended");
    await runs.filter({ hasText: "Read the long report" }).waitFor();
    expect(await runs.count()).toBe(2);
    const posts = rows(page, "Posts that have not arrived");
    expect(await posts.last().innerText()).toContain("the number is not in use");
    await page.getByRole("combobox", { name: "Going on for longer than" }).selectOption("1h");
    await runs.first().waitFor({ state: "detached" });
    await posts.last().getByRole("button", { name: "Send again" }).click();
    await page.getByText("Nothing is stuck.").waitFor();
    expect(search(page).get("view")).toBe("stuck");
  });

  test("lists 500 runs in pages", { timeout: 120_000 }, async () => {
    const { window, gateway } = await startConsole(operatorSeed().config);
    for (let done = 0; done < 500; done += 50) {
      const asked = Array.from({ length: 50 }, (_, n) => ask(gateway, `c${n}`, `question ${done + n}`));
      await Promise.all((await Promise.all(asked)).map(({ run }) => gateway.ended(run)));
    }
    const page = await window("/runs");
    await page.getByText("100 runs").waitFor();
    for (const count of [200, 300, 400, 500]) {
      await page.getByRole("button", { name: "Show older ones" }).click();
      await page.getByText(`${count} runs`).waitFor();
    }
    expect(await rows(page).count()).toBe(501);
    expect(await page.getByRole("button", { name: "Show older ones" }).count()).toBe(0);
    await page.getByRole("searchbox").fill("question 123");
    await page.getByText("1 run", { exact: true }).waitFor();
  });

  test("says when there is nothing, and when the gateway does not answer", async () => {
    const { window, context, complaints } = await startConsole(operatorSeed().config);
    const page = await window("/runs");
    await page.getByText("Nothing has run yet.").waitFor();
    await context.route("**/v1/runs?*", (route) =>
      route.fulfill({ status: 500, json: { code: "internal", detail: "The store is on fire." } }),
    );
    await page.goto(page.url().replace("/runs", "/runs?agent=helper"));
    await page.getByRole("alert").getByText("The store is on fire.").waitFor();
    await context.unroute("**/v1/runs?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("No run fits these filters.").waitFor();
    complaints.splice(0);
  });
});

inChromium("the page of a run", () => {
  scenario(
    ["ADDR-10"],
    "a run tells its story: question, answer, why here, timeline, job, facts",
    async () => {
      const { window, all } = await seeded();
      const page = await window(`/runs/${all.boss.run}`);
      await page.getByRole("article", { name: "Question" }).getByText("How many boxes are there?").waitFor();
      expect(await page.getByRole("article", { name: "Answer" }).innerText()).toContain("A job counts them");
      const main = await page.getByRole("main").innerText();
      expect(main).toContain("is where it was asked. The address of a turn never changes");
      expect(main).toContain("web:main/elsewhere was refused (explicit)");
      const steps = await page.getByRole("list", { name: "Timeline" }).innerText();
      const inOrder = [
        "Bob asked in",
        "Accepted and queued",
        "Claimed by node boot",
        "Wanted to send to web:main/elsewhere, which was refused",
        "Started a job for counter",
        "Completed",
        "Delivered",
      ].map((text) => steps.indexOf(text));
      expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
      expect(inOrder[0]).toBe(0);
      const facts = page.getByRole("complementary", { name: "Facts" });
      await facts.getByRole("link", { name: /^run …/ }).click();
      await page.getByRole("heading", { name: "Runs counter" }).waitFor();
      await page.getByText("3 steps").click();
      await page.getByText("box 1 of 3 (33 %)").waitFor();
      expect(await page.getByRole("list", { name: "Timeline" }).innerText()).toContain("Asked for by");
    },
  );

  test("is live while it runs: progress, the end, and the answer appear", async () => {
    const { window, seed, all } = await seeded();
    const page = await window(`/runs/${all.going.run}`);
    await page.getByText("It has been working for 10 minutes.").waitFor();
    seed.letGo();
    await page.getByRole("article", { name: "Answer" }).getByText("All twelve pages are read.").waitFor();
    await page.getByText("It completed after 10 minutes.").waitFor();
  });

  test("copies ids, and leads to the conversation", async () => {
    const { window, context, all } = await seeded();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await window(`/runs/${all.answered.run}`);
    await page.getByRole("button", { name: "Copy: Turn" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(all.answered.turn);
    await page.getByRole("article", { name: "Question" }).getByRole("link", { name: "alice" }).click();
    await page.getByRole("log", { name: "Messages" }).getByText("What is for lunch?").first().waitFor();
  });

  test("of an id that is not there says so", async () => {
    const { window, complaints } = await startConsole(operatorSeed().config);
    const page = await window("/runs/run_00000000-0000-7000-8000-000000000000");
    await page.getByRole("alert").getByText("Nothing here has the id").waitFor();
    complaints.splice(0);
  });
});

inChromium("the paste box", () => {
  test("opens the story of any id, link, address, and of a sentence with an id", async () => {
    const { window, gateway, url, all } = await seeded();
    const story = (
      await gateway.get<{ runs: { trace: string }[]; deliveries: { id: string; message: string }[] }>(
        `/v1/why/${all.answered.run}`,
      )
    ).body;
    const [delivery] = story.deliveries;
    const run = `/runs/${all.answered.run}`;
    const pasted: [string, string][] = [
      [all.answered.run ?? "", run],
      [all.answered.turn, run],
      [all.answered.stream ?? "", run],
      [all.answered.message, run],
      [story.runs[0]?.trace ?? "", run],
      [delivery?.id ?? "", `/deliveries/${delivery?.id}`],
      [`${all.answered.address}#${delivery?.message}`, run],
      [`(run ${all.answered.run})`, run],
      [`${url}/deliveries/${delivery?.id}`, `/deliveries/${delivery?.id}`],
      ["web:main/workshop", "/runs?place=web%3Amain%2Fworkshop"],
    ];
    const page = await window("/runs");
    for (const [text, href] of pasted) {
      await page.goto(`${url}/runs`);
      await page.getByRole("textbox", { name: "Open the story of an id" }).fill(text);
      await page.keyboard.press("Enter");
      await page.waitForURL(`${url}${href}`);
    }
  });

  test("opens what is pasted at once, and says when there is nothing", async () => {
    const { window, context, url, all, complaints } = await seeded();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await window("/deliveries");
    const box = page.getByRole("textbox", { name: "Open the story of an id" });
    await box.fill("run_nowhere");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("Nothing here has this id or link.").waitFor();
    await box.fill("");
    await page.evaluate((id) => navigator.clipboard.writeText(id), all.failed.run ?? "");
    await box.focus();
    await page.keyboard.press("ControlOrMeta+v");
    await page.waitForURL(`${url}/runs/${all.failed.run}`);
    complaints.splice(0);
  });

  test("is in the palette too", async () => {
    const { window, url, all } = await seeded();
    const page = await window("/chat");
    await page.getByRole("link", { name: "Runs", exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(all.boss.turn);
    await page
      .getByRole("option", { name: renderText("en", "console.paste.choice", { text: all.boss.turn }) })
      .waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}/runs/${all.boss.run}`);
  });
});
