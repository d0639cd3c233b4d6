import { z } from "zod";
import { errorCodes, type ErrorCode } from "../../kernel/error-codes.ts";
import type { HttpPorts } from "../ports.ts";
import { json, type Routes } from "../route.ts";

/** Errors that any route may answer. */
const everywhere: readonly ErrorCode[] = ["unauthorized", "foreign_host", "foreign_origin", "rate_limited"];

/**
 * `/openapi.json`, made from the routes as they are served. The package that makes it is loaded when somebody asks:
 * it takes 100 ms, which a start need not pay.
 */
export function openapiRoute(routes: Routes, ports: HttpPorts): void {
  let document: Promise<unknown> | null = null;
  routes.app.get("/openapi.json", async (c) => {
    document ??= describe(routes, ports.version);
    return json(c, 200, await document);
  });
}

async function describe({ specs }: Routes, version: string): Promise<unknown> {
  const { OpenAPIHono } = await import("@hono/zod-openapi");
  const app = new OpenAPIHono();
  for (const spec of specs) {
    const { method, path, summary, params, query, body, bodyOptional, answers, errors = [] } = spec;
    app.openAPIRegistry.registerPath({
      method,
      path,
      summary,
      request: {
        ...(params ? { params: params as z.ZodObject } : {}),
        ...(query ? { query: query as z.ZodObject } : {}),
        ...(body
          ? { body: { required: bodyOptional !== true, content: { "application/json": { schema: body } } } }
          : {}),
      },
      responses: {
        ...successes(answers),
        ...failures([...errors, ...(body ? bodyErrors : []), ...everywhere]),
      },
    });
  }
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Waybill",
      version,
      description:
        "An agent gateway. Errors are problems (RFC 9457) with a code; docs/errors.md explains each.",
    },
  });
}

const bodyErrors: readonly ErrorCode[] = [
  "invalid_json",
  "invalid_request",
  "body_too_large",
  "unsupported_media_type",
];

function successes(answers: Record<number, { description: string; type?: string }>) {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, type }]) => [
      status,
      type === undefined ? { description } : { description, content: { [type]: { schema: z.string() } } },
    ]),
  );
}

/** Codes by status: an answer of OpenAPI has one description for each. */
function failures(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorCodes[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      {
        description: same.join(", "),
        content: {
          "application/problem+json": {
            schema: z.looseObject({
              type: z.string(),
              title: z.string(),
              status: z.number(),
              code: z.enum(same as [ErrorCode, ...ErrorCode[]]),
              detail: z.string(),
              request: z.string(),
            }),
          },
        },
      },
    ]),
  );
}
