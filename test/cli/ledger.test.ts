import { describe, expect, onTestFinished, test } from "vitest";
import type { Page, WireDelivery, WireRun, WireStory } from "../../src/http/api.ts";
import { widthOf } from "../../src/cli/table.ts";
import { eachStore } from "../support/stores.ts";
import { folder, jsonLines, problem, run, say, serve, start, streamEnded, streamSays } from "./process.ts";

const settings = `
  import { agent, defineConfig } from "waybill";
  export default defineConfig({
    agents: {
      echo: agent.fn(async (ctx) => {
        if (ctx.text === "fail") throw new Error("no");
        return "Echo: " + ctx.text;
      }),
      hang: agent.fn(async function* (ctx) {
        yield "begun";
        await new Promise((resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
      }),
    },
  });
`;

/** A gateway whose folder has one run that completed and one that failed. */
async function withRuns(env: Record<string, string> = {}) {
  const cwd = folder({ "waybill.config.ts": settings });
  const { cli, url } = await serve(cwd, [], env);
  const done = await say(url, { conversation: "a", text: "hello" });
  await streamEnded(url, done.stream);
  const failed = await say(url, { conversation: "b", text: "fail" });
  await streamEnded(url, failed.stream);
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await run([...args, "--json"], { cwd, env })).out) as T;
  return { cwd, cli, url, done, failed, json };
}

eachStore((store) => {
  describe.each(["with a server", "without one, from the store"])("%s", (how) => {
    test("runs, deliveries and why are told", async () => {
      const { databaseUrl, dispose } = await store.fresh();
      onTestFinished(dispose);
      const { cli, done, failed, json } = await withRuns({ WAYBILL_DATABASE_URL: databaseUrl });
      if (how !== "with a server") {
        cli.signal("SIGTERM");
        await cli.ended;
      }
      const runs = await json<Page<WireRun>>("runs", "list");
      expect(runs.items.map(({ id, state }) => [id, state])).toEqual([
        [failed.run, "failed"],
        [done.run, "completed"],
      ]);
      const listed = await json<Page<WireRun>>(
        "runs",
        "list",
        "--state",
        "completed",
        "--address",
        "web:main/a",
      );
      expect(listed.items.map(({ id }) => id)).toEqual([done.run]);
      const shown = await json<WireRun & { events: { kind: string }[]; deliveries: WireDelivery[] }>(
        "runs",
        "show",
        done.run,
      );
      expect(shown).toMatchObject({ id: done.run, origin: "web:main/a", postedIn: "web:main/a" });
      expect(shown.events.map(({ kind }) => kind)).toEqual(["queued", "claimed", "completed"]);
      const deliveries = await json<Page<WireDelivery>>("deliveries", "list", "--run", done.run);
      expect(deliveries.items).toMatchObject([{ state: "delivered", rule: "turn", address: "web:main/a" }]);
      const delivery = deliveries.items[0]?.id ?? "";
      expect(await json("deliveries", "show", delivery)).toMatchObject({ id: delivery, run: done.run });
      for (const id of [done.run, done.turn, done.stream, done.message, delivery]) {
        const story = await json<WireStory>("why", id);
        expect(story.runs.map((one) => one.id)).toEqual([done.run]);
        expect(story.deliveries.map((one) => one.id)).toEqual([delivery]);
      }
    });
  });
});

describe("for people", () => {
  test("everything fits 80 columns, has no colours where there is no terminal, and tells times as ages", async () => {
    const { cwd, url, done, failed } = await withRuns();
    const long = `${"a-very-long-conversation-".repeat(6)}end`;
    await streamEnded(url, (await say(url, { conversation: long, text: "안녕하세요 ".repeat(30) })).stream);
    const commands = [
      ["runs", "list"],
      ["runs", "show", done.run],
      ["deliveries", "list"],
      ["why", failed.run],
    ];
    for (const args of commands) {
      const { code, out } = await run(args, { cwd });
      expect(code).toBe(0);
      expect(out).not.toContain("\u001b");
      expect(out.split("\n").filter((line) => widthOf(line) > 80)).toEqual([]);
    }
    const { out } = await run(["runs", "list"], { cwd });
    expect(out).toMatch(new RegExp(`^RUN +STATE +AGE +AGENT +ASKED IN\n`));
    expect(out).toMatch(new RegExp(`${done.run}  completed  \\d+s`));
  });

  test("what people wrote cannot drive the terminal", async () => {
    const { cwd, url } = await withRuns();
    const { run: id, stream } = await say(url, {
      conversation: "a",
      text: "x\u001b[2Jy\u202ez\r\nforged line",
    });
    await streamEnded(url, stream);
    const { out } = await run(["runs", "show", id], { cwd });
    expect(out).toContain("x [2Jy z forged line");
    expect(out).not.toMatch(/[\u001b\u202e\r]/);
  });

  test("why finds the id in a link to our own pages", async () => {
    const { cwd, url, done } = await withRuns();
    const { code, out } = await run(["why", `${url}/#/runs/${done.run}?x=1`], { cwd });
    expect(code).toBe(0);
    expect(out).toContain(done.turn);
  });
});

describe("what changes something", () => {
  test("cancel ends a run, watch follows it to its end, retry asks it again", async () => {
    const { cwd, url, failed } = await withRuns();
    const hang = await say(url, { conversation: "c", text: "x", agent: "hang" });
    await streamSays(url, hang.stream, "begun");
    const watch = start(["runs", "watch", hang.run, "--json"], { cwd });
    await watch.says(/"kind":"claimed"/);
    const cancelled = await run(["runs", "cancel", hang.run, "--json"], { cwd });
    expect(JSON.parse(cancelled.out)).toMatchObject({ run: hang.run, how: "asked" });
    const watched = await watch.ended;
    expect(watched.code).toBe(1);
    expect(jsonLines(watched.out).at(-1)).toMatchObject({ id: hang.run, state: "cancelled" });
    const again = await run(["runs", "cancel", hang.run, "--json"], { cwd });
    expect([again.code, problem(again).code]).toEqual([1, "run_finished"]);
    const retried = JSON.parse((await run(["runs", "retry", failed.run, "--json"], { cwd })).out) as {
      run: string;
    };
    expect(retried.run).not.toBe(failed.run);
    const ended = await run(["runs", "watch", retried.run], { cwd });
    expect(ended.code).toBe(1);
    expect(ended.out).toContain("failed");
  });

  test("a run that completes is watched with exit code 0", async () => {
    const { cwd, done } = await withRuns();
    expect((await run(["runs", "watch", done.run], { cwd })).code).toBe(0);
  });

  test("all runs are watched as they begin and end", async () => {
    const { cwd, url } = await withRuns();
    const hang = await say(url, { conversation: "c", text: "x", agent: "hang" });
    await streamSays(url, hang.stream, "begun");
    const watch = start(["runs", "watch", "--json"], { cwd });
    await watch.says(new RegExp(hang.run));
    await run(["runs", "cancel", hang.run], { cwd });
    await watch.says(new RegExp(`"run":"${hang.run}","state":"cancelled"`));
    watch.signal("SIGINT");
    expect((await watch.ended).code).toBe(0);
  });

  test("a delivery that was delivered is not sent again", async () => {
    const { cwd, done, json } = await withRuns();
    const { items } = await json<Page<WireDelivery>>("deliveries", "list", "--run", done.run);
    const ended = await run(["deliveries", "retry", items[0]?.id ?? "", "--json"], { cwd });
    expect([ended.code, problem(ended).code]).toEqual([1, "delivery_not_retryable"]);
  });

  test("needs a server: without one it is refused, and nothing changes", async () => {
    const { cwd, cli, failed, json } = await withRuns();
    cli.signal("SIGTERM");
    await cli.ended;
    for (const args of [
      ["runs", "cancel", failed.run],
      ["runs", "retry", failed.run],
      ["deliveries", "retry", "dlv_x"],
    ]) {
      const ended = await run([...args, "--json"], { cwd });
      expect([ended.code, problem(ended).code]).toEqual([6, "no_server"]);
    }
    expect((await json<Page<WireRun>>("runs", "list")).items).toHaveLength(2);
  });
});

describe("what is not there", () => {
  test("unknown ids and malformed ones have codes, and their exit codes", async () => {
    const { cwd } = await withRuns();
    const codes = async (...args: string[]) => {
      const ended = await run([...args, "--json"], { cwd });
      return [ended.code, problem(ended).code, ended.out];
    };
    expect(await codes("runs", "show", "run_nothing")).toEqual([3, "unknown_run", ""]);
    expect(await codes("deliveries", "show", "dlv_nothing")).toEqual([3, "unknown_delivery", ""]);
    expect(await codes("runs", "show", "a b")).toEqual([2, "invalid_id", ""]);
    expect(await codes("runs", "list", "--address", "nonsense")).toEqual([2, "invalid_address", ""]);
    expect(await codes("runs", "list", "--limit", "many")).toEqual([2, "invalid_request", ""]);
    expect((await codes("why", "run_nothing")).slice(0, 1)).toEqual([3]);
  });

  test("no server and no store: said, with what to do", async () => {
    const ended = await run(["runs", "list", "--port", "1"], { cwd: folder() });
    expect(ended.code).toBe(6);
    expect(ended.err).toContain("waybill start");
  });

  test("a server that is named and does not answer; an address that is none", async () => {
    const cwd = folder();
    const gone = await run(["runs", "list", "--url", "http://127.0.0.1:1", "--json"], { cwd });
    expect([gone.code, problem(gone).code]).toEqual([6, "no_server"]);
    const wrong = await run(["runs", "list", "--url", "example.com", "--json"], { cwd });
    expect([wrong.code, problem(wrong).code]).toEqual([5, "config_invalid"]);
  });
});

test("another machine's gateway is asked with --url and the token", async () => {
  const token = "a-token-of-some-length";
  const { url } = await serve(folder(), [], { WAYBILL_TOKEN: token });
  const { run: id, stream } = await say(
    url,
    { conversation: "a", text: "hello" },
    { authorization: `Bearer ${token}` },
  );
  await (
    await fetch(`${url}/v1/stream/${stream}?live=sse&offset=-1`, {
      headers: { authorization: `Bearer ${token}` },
    })
  ).text();
  const cwd = folder();
  const refused = await run(["runs", "list", "--url", url, "--json"], { cwd });
  expect([refused.code, problem(refused).code]).toEqual([4, "unauthorized"]);
  const asked = await run(["runs", "show", id, "--url", url, "--json"], {
    cwd,
    env: { WAYBILL_TOKEN: token },
  });
  expect(JSON.parse(asked.out)).toMatchObject({ id, state: "completed" });
});
