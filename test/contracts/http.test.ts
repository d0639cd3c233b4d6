/** What HTTP reads is the same on both stores. */
import { expect, onTestFinished, test } from "vitest";
import { agent } from "../../src/agents/agent-factory.ts";
import type { Page, WireDelivery, WireMessage, WireRun, WireStory } from "../../src/http/api.ts";
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
