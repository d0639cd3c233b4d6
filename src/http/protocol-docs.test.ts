import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { httpGateway } from "../../test/support/http-gateway.ts";
import { agent } from "../agents/agent-factory.ts";

const root = new URL("../../", import.meta.url);
const page = (name: string): string => readFileSync(new URL(`docs/${name}`, root), "utf8");

test("docs/protocol.md names every route, and no route that is not there", async () => {
  const gateway = await httpGateway({ agents: { echo: agent.fn(async () => "hi") } });
  const { body } = await gateway.get<{ paths: Record<string, unknown> }>("/openapi.json");
  const served = [...Object.keys(body.paths), "/openapi.json", "/"];
  const named = [
    ...page("protocol.md").matchAll(/`(?:(?:GET|POST|PATCH|DELETE) )?(\/(?:v1|api)\/[^`?\s]*)[^`]*`/g),
  ].map((m) => m[1]!);
  expect(named.filter((path) => !served.includes(path))).toEqual([]);
  expect(served.filter((path) => /^\/(v1|api)\//.test(path) && !named.includes(path))).toEqual([]);
});

test("docs/flow.md names files and folders that are there", () => {
  const named = [...page("flow.md").matchAll(/`((?:src|test)\/[^`]+)`/g)].map((m) => m[1]!);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
