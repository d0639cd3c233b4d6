import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { folder, jsonLines, run, say, serve, start, streamEnded } from "./process.ts";

interface ChatEvent {
  event: string;
  run?: string;
  delta?: string;
  address?: string;
  outcome?: string;
  message?: { text: string; role: string; run: string; address: string };
}

const counting = `
  import { agent, defineConfig } from "waybill";
  export default defineConfig({
    agents: {
      count: agent.fn(async function* (ctx) {
        if (ctx.text === "say") await ctx.say("first of all");
        if (ctx.text === "hang") {
          yield "hanging";
          await new Promise((resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
        }
        if (ctx.text === "job") { yield "started " + (await ctx.start("job", "x")).run; return; }
        if (ctx.text === "silent") { ctx.silent(); return; }
        for (const n of ["one ", "two ", "three"]) yield n;
      }),
      job: agent.fn(async () => "the job is done", { background: true }),
    },
  });
`;

describe("from a pipe", () => {
  test("starts a gateway where none runs, answers each line in order, and leaves nothing behind", async () => {
    const cwd = folder();
    const ended = await run(["chat", "--log", "silent"], { cwd, input: "hello\nfail\n/status\nwhy\n" });
    expect(ended.code).toBe(0);
    const order = ["You said: hello", "Something went wrong", "guide: failed", "waybill why run_"];
    const places = order.map((text) => ended.out.indexOf(text));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    for (const text of order) expect(ended.out.split(text)).toHaveLength(2);
    expect(ended.err).toMatch(/^No gateway was running here; this chat has started one: http:\S+\n$/);
    expect(existsSync(path.join(cwd, ".waybill/server.json"))).toBe(false);
  });

  test("an answer streams token by token and is shown once; what is said before it comes before it", async () => {
    const cwd = folder({ "waybill.config.ts": counting });
    const { out, code } = await run(["chat", "--json", "--log", "silent"], { cwd, input: "say\nsilent\n" });
    expect(code).toBe(0);
    const events = jsonLines<ChatEvent>(out);
    const deltas = events.filter(({ event }) => event === "delta").map(({ delta }) => delta);
    expect(deltas).toEqual(["one ", "two ", "three"]);
    const messages = events.filter(({ event }) => event === "message").map(({ message }) => message?.text);
    expect(messages).toEqual(["first of all"]);
  });

  test("a job's answer, which is posted later, is waited for and shown", async () => {
    const cwd = folder({ "waybill.config.ts": counting });
    const { out } = await run(["chat", "--log", "silent"], { cwd, input: "job\n" });
    expect(out).toMatch(/^started run_\S+\nthe job is done\n$/);
  });

  test("/stop does not wait: it stops what runs", async () => {
    const cwd = folder({ "waybill.config.ts": counting });
    const { out, err, code } = await run(["chat", "--log", "silent"], { cwd, input: "hang\n/stop\nhello\n" });
    expect(code).toBe(0);
    expect(out).toContain("Stopped 1 run.");
    expect(out).toContain("one two three");
    expect(err).toContain("(stopped)");
  });

  test("threads and conversations are places of their own", async () => {
    const cwd = folder({ "waybill.config.ts": counting });
    const input = "a\n/thread t 1\nb\n/thread\nc\n/c other\nd\n/help\n/c\n/quit\nnever said\n";
    const { out, code } = await run(["chat", "-c", "mine", "--json", "--log", "silent"], { cwd, input });
    expect(code).toBe(0);
    const accepted = jsonLines<ChatEvent>(out).filter(({ event }) => event === "accepted");
    expect(accepted.map(({ address }) => address)).toEqual([
      "web:main/mine",
      "web:main/mine/t%201",
      "web:main/mine",
      "web:main/other",
    ]);
    expect(jsonLines<ChatEvent>(out).filter(({ event }) => event === "note")).toHaveLength(2);
  });

  test("settings that cannot be used are said, and nothing is started", async () => {
    const cwd = folder({ "waybill.config.ts": "export default {};" });
    const ended = await run(["chat"], { cwd, input: "hello\n" });
    expect(ended.code).toBe(5);
    expect(ended.err).toContain("[config_invalid]");
    expect(ended.out).toBe("");
  });

  test("a message that is refused is said, and the chat goes on", async () => {
    const cwd = folder({ "waybill.config.ts": counting });
    const args = ["chat", "--agent", "nobody", "--log", "silent"];
    const ended = await run(args, { cwd, input: "hello\n/status\n" });
    expect(ended.code).toBe(0);
    expect(ended.err).toContain("[unknown_agent]");
    expect(ended.out).toContain("no record");
  });
});

describe("with a gateway that runs", () => {
  test("it is used, with what was said before, and what others say later appears", async () => {
    const cwd = folder({ "waybill.config.ts": counting });
    const { cli, url } = await serve(cwd);
    await streamEnded(url, (await say(url, { conversation: "team", text: "earlier" })).stream);
    const chat = start(["chat", "-c", "team", "--as", "ann"], { cwd, open: true });
    await chat.says(/operator: earlier\none two three\n/);
    chat.type("from here\n");
    await chat.says(/one two three\none two three\n/);
    await say(url, { conversation: "team", text: "from elsewhere", sender: { id: "u2", name: "Ben" } });
    await chat.says(/Ben: from elsewhere\none two three\n/);
    // What was said here is not told to whoever said it.
    expect(chat.out).not.toContain("from here");
    chat.endInput();
    expect(await chat.ended).toMatchObject({ code: 0, err: "" });
    cli.signal("SIGTERM");
    expect((await cli.ended).code).toBe(0);
  });

  test("Ctrl-C once stops the run, twice leaves, and the gateway goes on", async () => {
    const cwd = folder({ "waybill.config.ts": counting });
    const { url } = await serve(cwd);
    const chat = start(["chat", "--url", url], { cwd, open: true });
    chat.type("hang\n");
    await chat.says(/hanging/);
    chat.signal("SIGINT");
    await chat.says(/\(stopped\)/, "err");
    chat.signal("SIGINT");
    expect((await chat.ended).code).toBe(0);
    const { items } = (await (await fetch(`${url}/v1/runs`)).json()) as { items: { state: string }[] };
    expect(items.map(({ state }) => state)).toEqual(["cancelled"]);
  });

  test("what a model writes cannot drive the terminal", async () => {
    const text = counting.replace('"three"', '"\\u001b]0;title\\u0007\\u001b[2Jx\\u202e"');
    const cwd = folder({ "waybill.config.ts": text });
    const { out } = await run(["chat", "--log", "silent"], { cwd, input: "hello\n" });
    expect(out).toBe("one two ]0;title[2Jx\n");
  });

  test("a server that does not answer is said", async () => {
    const ended = await run(["chat", "--url", "http://127.0.0.1:1"], { cwd: folder(), input: "hello\n" });
    expect(ended.code).toBe(6);
    expect(ended.err).toContain("[no_server]");
  });
});
