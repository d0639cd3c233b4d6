import type { Hono } from "hono";
import { z } from "zod";
import type { ErrorCode } from "../kernel/error-codes.ts";
import { WaybillError } from "../kernel/errors.ts";
import { wellFormedId } from "../kernel/ids.ts";
import { invalidRequest, nulRule, readBytes, readJson } from "./body.ts";
import type { HttpContext, HttpEnv } from "./context.ts";

type Shape = z.ZodType;

/** A route as it is served and as `/openapi.json` describes it. */
export interface RouteSpec<P extends Shape, Q extends Shape, B extends Shape> {
  method: "get" | "post" | "patch" | "delete";
  /** As OpenAPI writes it: `/v1/runs/{id}`. */
  path: string;
  /** As Hono writes it, where it is not the same with `:id` for `{id}`. */
  pattern?: string;
  summary: string;
  params?: P;
  query?: Q;
  body?: B;
  /** True: a request without a body counts as `{}`. */
  bodyOptional?: boolean;
  /** The success answers by status; more than JSON is said in words. */
  answers: Record<number, { description: string; type?: string }>;
  /** The error codes that are particular to this route. */
  errors?: readonly ErrorCode[];
}

export interface RouteInput<P, Q, B> {
  params: P;
  query: Q;
  body: B;
}

/** What one place knows of all routes: for `/openapi.json` and for 405. */
export interface Routes {
  app: Hono<HttpEnv>;
  bodyBytes: number;
  specs: RouteSpec<Shape, Shape, Shape>[];
}

/** Serves a route: its path, query and body are checked against its schemas before it is asked. */
export function route<P extends Shape, Q extends Shape, B extends Shape>(
  routes: Routes,
  spec: RouteSpec<P, Q, B>,
  handle: (
    c: HttpContext,
    input: RouteInput<z.output<P>, z.output<Q>, z.output<B>>,
  ) => Response | Promise<Response>,
): void {
  routes.specs.push(spec);
  const pattern = spec.pattern ?? spec.path.replaceAll(/\{(\w+)\}/g, ":$1");
  routes.app.on(spec.method.toUpperCase(), pattern, async (c) => {
    const params = spec.params ? check(spec.params, c.req.param(), "") : undefined;
    const query = spec.query ? check(spec.query, c.req.query(), "query") : undefined;
    const body = spec.body
      ? check(spec.body, await bodyOf(spec, c.req.raw, routes.bodyBytes), "body")
      : undefined;
    return handle(c, { params, query, body } as never);
  });
}

async function bodyOf(spec: { bodyOptional?: boolean }, request: Request, most: number): Promise<unknown> {
  if (spec.bodyOptional !== true) return readJson(request, most);
  const body = await readBytes(request, most);
  if (body.length === 0) return {};
  const { url, method, headers } = request;
  return readJson(new Request(url, { method, headers, body: body as BodyInit }), most);
}

function check<S extends Shape>(schema: S, value: unknown, where: "" | "query" | "body"): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const isMissing = (path: readonly PropertyKey[]): boolean =>
    path.length > 0 && path.reduce<unknown>((at, step) => (at as never)?.[step], value) === undefined;
  throw invalidRequest(
    result.error.issues.flatMap((issue) => {
      const field = fieldOf(issue.path);
      if (issue.code !== "unrecognized_keys") return [{ field, rule: ruleOf(issue, isMissing(issue.path)) }];
      return issue.keys.map((key) => ({
        field: field === "" ? key : `${field}.${key}`,
        rule: where === "query" ? "is no query parameter of this route" : "is no field of this body",
      }));
    }),
  );
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : i === 0 ? String(step) : `.${String(step)}`))
    .join("");
}

function ruleOf(issue: z.core.$ZodIssue, isMissing: boolean): string {
  if (issue.code === "invalid_type" && isMissing) return `is missing (${issue.expected})`;
  const text = issue.message.replace(/^Invalid input: /, "");
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** The path's `{id}`; anything that is well formed may be asked for. */
export const idParams = z.object({ id: z.string() });

/**
 * An id from a path.
 * @throws WaybillError `invalid_id`
 */
export function checkId(id: string): string {
  if (wellFormedId.test(id)) return id;
  throw new WaybillError(
    "invalid_id",
    "An id is 1 to 200 of A-Z, a-z, 0-9, _ and -. Send it as you were given it.",
    {
      field: "id",
    },
  );
}

/** A text from outside that is kept: not empty, not longer than `most`, and without NUL. */
export function shortText(most: number): z.ZodString {
  return z
    .string()
    .min(1, "may not be empty")
    .max(most, `has at most ${most} characters`)
    .refine((text) => !text.includes("\0"), nulRule) as z.ZodString;
}

/** `limit`: 1 to 1000 items of a page. */
export const limitQuery = z
  .string()
  .regex(/^\d{1,4}$/, "is a number from 1 to 1000")
  .transform(Number)
  .refine((n) => n >= 1 && n <= 1_000, "is a number from 1 to 1000")
  .default(100);

/** A time, as milliseconds since 1970. */
export const timeQuery = z.iso
  .datetime({ offset: true, error: "is a time such as 2026-01-31T09:30:00Z" })
  .transform((text) => Date.parse(text))
  .optional();

/** `state=queued,running`: any of some states. */
export function stateList<S extends string>(states: readonly S[]) {
  return z
    .string()
    .transform((text) => text.split(",").map((one) => one.trim()))
    .refine(
      (list): list is S[] => list.every((one) => (states as readonly string[]).includes(one)),
      `is a list, with commas, of ${states.join(", ")}`,
    )
    .optional();
}

/** A JSON answer with what belongs to every answer. */
export function json(
  c: HttpContext,
  status: number,
  body: unknown,
  more: Record<string, string> = {},
): Response {
  const headers = { ...c.get("headers"), "content-type": "application/json; charset=utf-8", ...more };
  return new Response(JSON.stringify(body), { status, headers });
}
