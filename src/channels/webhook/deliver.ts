import { redact } from "../../kernel/redact.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { OutgoingOp, Receipt, ReconcileOutcome, SendOutcome } from "../channel.ts";
import { signedHeaders } from "./signature.ts";
import type { WebhookSettings } from "./webhook-options.ts";

/** Bytes of an answer that are read; a receipt needs a few hundred. */
const answerLimit = 65_536;
/** A wish to wait longer than a day is not taken at its word. */
const longestWaitMs = 86_400_000;

interface Answer {
  status: number;
  headers: Headers;
  json: Record<string, unknown>;
}

/** Sends one op: a signed POST under the op's key, by which the other program tells a repetition. */
export async function send(
  op: OutgoingOp,
  settings: WebhookSettings,
  clock: Clock,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const { address, key } = op;
  const { delivery, kind, text, part, target, run, turn } = op;
  const { account, conversation, thread } = address;
  const post = {
    v: 1,
    delivery,
    op: op.id,
    key,
    kind,
    account,
    conversation,
    thread,
    text,
    part,
    target,
    run,
    turn,
  };
  const body = JSON.stringify(post);
  let answer: Answer;
  try {
    answer = await request("POST", settings.url, body, { "idempotency-key": key }, settings, clock, signal);
  } catch (thrown) {
    const { code, reason } = failureOf(thrown);
    return neverSent.has(code) ? { kind: "retry", reason } : { kind: "unclear", reason };
  }
  return ofStatus(answer, op, settings, clock);
}

function ofStatus(answer: Answer, op: OutgoingOp, settings: WebhookSettings, clock: Clock): SendOutcome {
  const { status } = answer;
  const reason = reasonOf(answer, settings);
  if (status >= 200 && status < 300) {
    const receipt = receiptOf(answer) ?? (op.target === null ? null : { platformId: op.target });
    return receipt ? { kind: "sent", receipt } : { kind: "unclear", reason: `${reason} without an id` };
  }
  if (isWorthAnotherTry(status)) return { kind: "retry", reason, ...waitOf(answer, clock) };
  if (status === 404 || status === 410)
    return { kind: "blocked", reason: `the destination is gone: ${reason}` };
  return { kind: "refused", reason };
}

/** Asks whether an op arrived: a signed GET with its key. */
export async function reconcile(
  op: OutgoingOp,
  settings: WebhookSettings,
  clock: Clock,
  signal: AbortSignal,
): Promise<ReconcileOutcome> {
  const url = new URL(settings.url);
  url.searchParams.set("key", op.key);
  let answer: Answer;
  try {
    answer = await request("GET", url.href, "", {}, settings, clock, signal);
  } catch (thrown) {
    return { kind: "retry", reason: failureOf(thrown).reason };
  }
  const reason = `asked for the post, ${reasonOf(answer, settings)}`;
  const receipt = answer.status === 200 ? receiptOf(answer) : null;
  if (receipt) return { kind: "found", receipt };
  if (answer.status === 404) return { kind: "send-again" };
  if (answer.status === 405 || answer.status === 501) return { kind: "unknown", reason };
  return { kind: "retry", reason, ...waitOf(answer, clock) };
}

async function request(
  method: "GET" | "POST",
  url: string,
  body: string,
  headers: Record<string, string>,
  settings: WebhookSettings,
  clock: Clock,
  signal: AbortSignal,
): Promise<Answer> {
  const late = new AbortController();
  const tooLate = (): void => late.abort(new Error(`there was no answer within ${settings.timeoutMs} ms`));
  const cancel = clock.after(settings.timeoutMs, tooLate);
  try {
    const response = await fetch(url, {
      method,
      // A redirect could lead what is signed, and said, to somebody else.
      redirect: "manual",
      signal: AbortSignal.any([signal, late.signal]),
      headers: {
        accept: "application/json",
        "user-agent": "waybill",
        ...headers,
        ...signedHeaders(settings.secret, clock.now(), body),
        ...(method === "POST" ? { "content-type": "application/json" } : {}),
      },
      ...(method === "POST" ? { body } : {}),
    });
    return { status: response.status, headers: response.headers, json: await readJson(response) };
  } finally {
    cancel();
  }
}

/** The JSON of an answer, or nothing where it is none; a body that is cut off is an error. */
async function readJson(response: Response): Promise<Record<string, unknown>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.byteLength;
    if (size > answerLimit) return {};
    pieces.push(piece as Uint8Array);
  }
  try {
    const json: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function receiptOf({ json }: Answer): Receipt | null {
  const id = typeof json["id"] === "number" ? String(json["id"]) : json["id"];
  if (typeof id !== "string" || id === "" || id.length > 1_000 || id.includes("\0")) return null;
  const link = json["permalink"];
  const isLink = typeof link === "string" && link.length <= 2_000 && /^https?:\/\//i.test(link);
  return {
    platformId: id.toWellFormed(),
    permalink: isLink ? link.replaceAll("\0", "").toWellFormed() : null,
  };
}

/** 408 and 425 ask for another try as 429 and 5xx do (RFC 9110, 15.5.9; RFC 8470, 5.2). */
function isWorthAnotherTry(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** Retry-After as seconds or as a date (RFC 9110, 10.2.3). */
function waitOf({ headers }: Answer, clock: Clock): { afterMs?: number } {
  const given = headers.get("retry-after")?.trim();
  if (!given) return {};
  const ms = /^\d+$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - clock.now();
  return Number.isFinite(ms) ? { afterMs: Math.min(longestWaitMs, Math.max(0, ms)) } : {};
}

function reasonOf({ status, json }: Answer, { secret }: WebhookSettings): string {
  const said = [json["reason"], json["detail"], json["error"], json["title"]].find(
    (one) => typeof one === "string" && one !== "",
  ) as string | undefined;
  const kind = status >= 300 && status < 400 ? ", a redirect, which is never followed" : "";
  const words =
    said === undefined
      ? ""
      : ` (${redact(said.replaceAll("\0", "").replaceAll(secret, "[secret]").toWellFormed(), 200)})`;
  return `the other program answered ${status}${kind}${words}`;
}

/** Failures after which nothing can have arrived: no connection came about. */
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** What went wrong, by its code: the message may hold the URL, and a URL may hold what is secret. */
function failureOf(thrown: unknown): { code: string; reason: string } {
  let code = "";
  for (let error = thrown; error instanceof Error && code === ""; error = error.cause) {
    const found = (error as Error & { code?: unknown }).code;
    if (typeof found === "string") code = found;
  }
  if (code !== "") return { code, reason: `the connection to the other program failed (${code})` };
  const isOurs = thrown instanceof Error && !(thrown instanceof TypeError);
  return { code, reason: isOurs ? thrown.message : "the connection to the other program failed" };
}
