import { WaybillError } from "../../kernel/errors.ts";
import { dispatch } from "./dispatch.ts";
import { readEnvelope } from "./read-event.ts";
import { checkSignature, freshTimestamp } from "./signature.ts";
import type { Workspace } from "./workspace.ts";

/** Bytes of one event; Slack's are far smaller. */
const bodyLimit = 1_048_576;

/**
 * Takes one request of the Events API. Time, size and signature are checked before anything of it is read. It is
 * acknowledged with 200 after the commit; and at once where there is nothing to commit, since Slack sends again
 * whatever is not acknowledged, and switches an app off whose events fail.
 * @throws WaybillError `not_found` (another path or workspace), `method_not_allowed`, `invalid_signature`,
 *   `body_too_large`, `invalid_json`, and what `dispatch` throws
 */
export async function receive(workspace: Workspace, secret: string, request: Request): Promise<Response> {
  const { settings, ports } = workspace;
  checkPath(request);
  const timestamp = freshTimestamp(request.headers, ports.clock.now());
  const body = await readBody(request);
  checkSignature(secret, timestamp, request.headers, body);
  const envelope = readEnvelope(parseJson(body));
  if (envelope === null) {
    ports.log.warn({}, "an event of Slack was not understood: it has no envelope");
    return Response.json({ ignored: "it has no envelope" });
  }
  if (envelope.type === "url_verification") return Response.json({ challenge: envelope.challenge ?? "" });
  if (!envelope.teams.includes(settings.account)) {
    throw new WaybillError(
      "not_found",
      `No workspace ${shown(envelope.teams)} is configured here. Add slack({ account: "${shown(envelope.teams)}", ... }) to channels, or take the app out of that workspace.`,
      { teams: envelope.teams },
    );
  }
  const retried = request.headers.has("x-slack-retry-num");
  return Response.json(await dispatch(workspace, envelope, retried));
}

function checkPath(request: Request): void {
  const path = new URL(request.url).pathname;
  if (!/\/channels\/slack\/events\/?$/.test(path)) {
    throw new WaybillError(
      "not_found",
      "There is nothing of Slack at this path; events go to /channels/slack/events.",
    );
  }
  if (request.method === "POST") return;
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
