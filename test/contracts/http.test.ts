/** What HTTP reads is the same on both stores. */
import { expect, onTestFinished, test } from "vitest";
import { agent } from "../../src/agents/agent-factory.ts";
import type { Page, WireDelivery, WireMessage, WireProblem, WireRun, WireStory } from "../../src/http/api.ts";
import { httpGateway, sseEvents, until } from "../support/http-gateway.ts";
import { eachStore } from "../support/stores.ts";

const config = {
  agents: {
    echo: agent.fn(async (ctx) => `You said: ${ctx.text}`),
    wanderer: agent.fn(async (ctx) => {
      await ctx.send("web:main/elsewhere", "psst").catch(() => {});
      return "I stay here";
    }),
  },
};

eachStore((store) => {
  async function start() {
    const fresh = await store.fresh();
    onTestFinished(() => fresh.dispose());
    return httpGateway(config, { databaseUrl: fresh.databaseUrl });
  }

  test("a message, its answer, its run, its delivery and its story", async () => {
    const gateway = await start();
    const message = { conversation: "a", text: "hi", id: "m1", agent: "wanderer" };
    const { body } = await gateway.post("/v1/messages", message);
    expect(await gateway.ended(body.run)).toBe("completed");
    expect((await gateway.post("/v1/messages", message)).body).toEqual(body);
    expect((await gateway.post("/v1/messages", { ...message, text: "bye" })).body.code).toBe(
      "idempotency_conflict",
    );
    const messages = (await gateway.get<Page<WireMessage>>("/v1/messages?address=web:main/a")).body;
    expect(messages.items).toMatchObject([
      { postSeq: 1, text: "hi", run: body.run },
      { postSeq: 2, text: "I stay here", run: body.run },
    ]);
    const runs = (await gateway.get<Page<WireRun>>("/v1/runs?state=completed&address=web:main/a")).body;
    expect(runs.items).toMatchObject([{ id: body.run, attempts: 1, postedIn: "web:main/a" }]);
    const deliveries = (await gateway.get<Page<WireDelivery>>(`/v1/deliveries?run=${body.run}`)).body;
    expect(deliveries.items).toMatchObject([
      { rule: "turn", state: "delivered", rejected: [{ address: "web:main/elsewhere" }] },
    ]);
    for (const id of [body.turn, body.stream, deliveries.items[0]?.id, `${body.address}#m1`, "m1"]) {
      const story = await gateway.get<WireStory>(`/v1/why/${encodeURIComponent(id ?? "")}`);
      expect(story.body.runs.map((run) => run.id)).toEqual([body.run]);
    }
  });

  test("pages of runs and conversations are whole, also where times are equal", async () => {
    const gateway = await start();
    const posts = await Promise.all(
      Array.from({ length: 9 }, (_, i) =>
        gateway.post("/v1/messages", { conversation: `c${i}`, text: "hi" }),
      ),
    );
    await Promise.all(posts.map(({ body }) => gateway.ended(body.run)));
    for (const list of ["runs", "conversations", "deliveries"]) {
      const seen: string[] = [];
      let next = "";
      do {
        const { body } = await gateway.get<Page<{ id?: string; address: string }>>(
          `/v1/${list}?limit=2${next}`,
        );
        seen.push(...body.items.map((item) => item.id ?? item.address));
        next = body.next === null ? "" : `&next=${body.next}`;
      } while (next !== "");
      expect(new Set(seen).size).toBe(9);
      expect(seen).toHaveLength(9);
    }
  });

  test("runs are found by words of what was asked and of who asked, and by their age", async () => {
    const gateway = await start();
    const asked: [text: string, sender: string][] = [
      ["Count the 100% of Größe_1", "uma"],
      ["say something", "Jin"],
      ["what does 1000 weigh?", "uma"],
    ];
    const runs: string[] = [];
    for (const [text, name] of asked) {
      const { body } = await gateway.post("/v1/messages", {
        conversation: "a",
        text,
        sender: { id: `id-${name}`, name },
      });
      await gateway.ended(body.run);
      runs.push(body.run ?? "");
    }
    const found = async (query: Record<string, string>) => {
      const { body } = await gateway.get<Page<WireRun>>(`/v1/runs?${new URLSearchParams(query).toString()}`);
      return body.items.map((run) => runs.indexOf(run.id)).toSorted((a, b) => a - b);
    };
    expect(await found({ text: "SAY" })).toEqual([1]);
    expect(await found({ text: "00%" })).toEqual([0]);
    expect(await found({ text: "e_1" })).toEqual([0]);
    expect(await found({ text: "jin" })).toEqual([1]);
    expect(await found({ text: "id-uma" })).toEqual([0, 2]);
    expect(await found({ text: "parts" })).toEqual([]);
    const { body } = await gateway.get<WireRun>(`/v1/runs/${runs[1]}`);
    expect(await found({ before: body.createdAt })).toEqual([0]);
    expect(await found({ before: "2100-01-01T00:00:00+09:00" })).toEqual([0, 1, 2]);
    const wrong = await gateway.get<WireProblem>("/v1/runs?before=yesterday");
    expect([wrong.status, wrong.body.issues]).toEqual([
      400,
      [{ field: "before", rule: "is a time such as 2026-01-31T09:30:00Z" }],
    ]);
  });

  test("the feed of a place brings each message once, and goes on where it was cut", async () => {
    const gateway = await start();
    const feed = async (after: string) =>
      sseEvents(await gateway.call(`/v1/conversations/events?address=web:main/a&after=${after}`));
    const isMessage =
      (text: string) =>
      ({ event, data }: { event: string; data: string }) =>
        event === "message" && (JSON.parse(data) as WireMessage).text === text;
    const first = await feed("0");
    await gateway.post("/v1/messages", { conversation: "a", text: "one" });
    const seen = await until(first, isMessage("You said: one"));
    await first.return(undefined);
    await gateway.post("/v1/messages", { conversation: "a", text: "two" });
    const last = seen.findLast(({ event }) => event === "message")?.id;
    const rest = await until(await feed(last ?? ""), isMessage("You said: two"));
    const ids = [...seen, ...rest].filter(({ event }) => event === "message").map(({ id }) => id);
    expect(ids).toEqual(["1", "2", "3", "4"]);
  });
});
