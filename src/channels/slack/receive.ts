import { WaybillError } from "../../kernel/errors.ts";
import { dispatch } from "./dispatch.ts";
import { readEnvelope } from "./read-event.ts";
import { interact, teamOf } from "./shortcut.ts";
import { checkSignature, freshTimestamp } from "./signature.ts";
import type { Workspace } from "./workspace.ts";

/** Bytes of one event; Slack's are far smaller. */
const bodyLimit = 1_048_576;

/**
 * Takes one request of the Events API, or of interactivity. Time, size and signature are checked before anything of it
 * is read. An event is acknowledged with 200 after the commit; and at once where there is nothing to commit, since Slack
 * sends again whatever is not acknowledged, and switches an app off whose events fail.
 * @throws WaybillError `not_found` (another path or workspace), `method_not_allowed`, `invalid_signature`,
 *   `body_too_large`, `invalid_json`, and what `dispatch` throws
 */
export async function receive(workspace: Workspace, secret: string, request: Request): Promise<Response> {
  const path = checkPath(request);
  const timestamp = freshTimestamp(request.headers, workspace.ports.clock.now());
  const body = await readBody(request);
  checkSignature(secret, timestamp, request.headers, body);
  return path === "interactive"
    ? onInteraction(workspace, body)
    : onEvent(workspace, request, parseJson(body));
}

async function onEvent(workspace: Workspace, request: Request, payload: unknown): Promise<Response> {
  const envelope = readEnvelope(payload);
  if (envelope === null) {
    workspace.ports.log.warn({}, "an event of Slack was not understood: it has no envelope");
    return Response.json({ ignored: "it has no envelope" });
  }
  if (envelope.type === "url_verification") return Response.json({ challenge: envelope.challenge ?? "" });
  if (!envelope.teams.includes(workspace.settings.account)) throw elsewhere(envelope.teams);
  const retried = request.headers.has("x-slack-retry-num");
  return Response.json(await dispatch(workspace, envelope, retried));
}

/** A form with one field, whose value is JSON (docs.slack.dev, "Handling user interaction"). */
function onInteraction(workspace: Workspace, body: Uint8Array): Response {
  const form = new URLSearchParams(new TextDecoder().decode(body));
  const payload = parseJson(new TextEncoder().encode(form.get("payload") ?? ""));
  const team = teamOf(payload);
  if (team !== workspace.settings.account) throw elsewhere(team === null ? [] : [team]);
  interact(workspace, payload);
  return new Response(null, { status: 200 });
}

function elsewhere(teams: readonly string[]): WaybillError {
  return new WaybillError(
    "not_found",
    `No workspace ${shown(teams)} is configured here. Add slack({ account: "${shown(teams)}", ... }) to channels, or take the app out of that workspace.`,
    { teams },
  );
}

function checkPath(request: Request): "events" | "interactive" {
  const path = new URL(request.url).pathname;
  const [, name] = /\/channels\/slack\/(events|interactive)\/?$/.exec(path) ?? [];
  if (name === undefined) {
    throw new WaybillError(
      "not_found",
      "There is nothing of Slack at this path; events go to /channels/slack/events, interactivity to /channels/slack/interactive.",
    );
  }
  if (request.method === "POST") return name === "events" ? "events" : "interactive";
  throw new WaybillError("method_not_allowed", `Slack sends events to ${path.slice(0, 200)} by POST.`, {
    allow: ["POST"],
  });
}

function shown(teams: readonly string[]): string {
  return teams.join(", ").replace(/[^\w, -]/g, "?") || "(none named)";
}

async function readBody(request: Request): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  const body = announced > bodyLimit ? null : new Uint8Array(await request.arrayBuffer());
  if (body !== null && body.byteLength <= bodyLimit) return body;
  throw new WaybillError("body_too_large", `The body is larger than ${bodyLimit} bytes.`, {
    limit: bodyLimit,
  });
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new WaybillError("invalid_json", "The body is not JSON in UTF-8.");
  }
}
