import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { gate, httpGateway, sseEvents } from "../../test/support/http-gateway.ts";
import { agent } from "../agents/agent-factory.ts";
import { serve } from "./serve.ts";

const answer = async (): Promise<Response> => new Response("here");

test("a taken port is refused by name", async () => {
  const server = await serve(answer, { host: "127.0.0.1", port: 0 });
  await expect(serve(answer, { host: "127.0.0.1", port: server.port })).rejects.toMatchObject({
    code: "port_in_use",
    message: expect.stringContaining(String(server.port)),
    details: { port: server.port, host: "127.0.0.1" },
  });
  expect(await (await fetch(server.url)).text()).toBe("here");
  await server.close();
});

test("a host that is not of this machine is refused by name", async () => {
  await expect(serve(answer, { host: "192.0.2.1", port: 0 })).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("192.0.2.1"),
  });
});

test("a connection on which nothing was asked does not hold up closing", async () => {
  const server = await serve(answer, { host: "127.0.0.1", port: 0 });
  const socket = connect(server.port, "127.0.0.1");
  await once(socket, "connect");
  // Connections are taken in order, so the server has that one when it answers on a later one.
  await (await fetch(server.url)).text();
  const left = once(socket, "close");
  await server.close({ graceMs: 600_000 });
  await left;
});

test("closing ends event streams, lets other answers end, and takes nothing new", async () => {
  const hold = gate();
  const gateway = await httpGateway({ agents: { echo: agent.fn(async () => "hi") } });
  const server = await serve(
    async (request, env) => {
      if (!request.url.endsWith("/slow")) return gateway.running.fetch(request, env);
      await hold.opened;
      return new Response("late, but whole");
    },
    { host: "127.0.0.1", port: 0 },
  );
  const events = sseEvents(await fetch(`${server.url}/v1/conversations/events?address=web:main/a`));
  const slow = fetch(`${server.url}/slow`);
  await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  expect((await events.next()).value?.event).toBe("message");
  const closed = server.close({ graceMs: 20_000 });
  let last = await events.next();
  while (!last.done) last = await events.next();
  hold.open();
  expect(await (await slow).text()).toBe("late, but whole");
  await closed;
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
});
