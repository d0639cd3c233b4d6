import { planDelivery } from "../deliveries/plan-delivery.ts";
import { canonicalJson, sha256 } from "../kernel/digest.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { GrantedRun } from "../ledger/grants.ts";
import type { ConversationKind } from "../address/kind.ts";
import { chooseTarget } from "./choose-target.ts";
import { storable } from "./live-run.ts";
import { postByGrant, type Posted } from "./post-by-grant.ts";
import type { RunServices } from "./services.ts";

/**
 * Posts in the name of a run that a grant chose: to the target that is named, under the rules of its turn, else to its
 * own address. Whatever comes of it, the turn's answer goes where it was due.
 * @throws WaybillError `invalid_request`, `invalid_address`, `destination_not_allowed`, `cross_post_not_allowed`,
 *   `turn_ended`, `idempotency_conflict`
 */
export async function postForRun(
  s: RunServices,
  run: GrantedRun,
  call: { text: string; to?: string; id?: string },
): Promise<Posted> {
  const text = storable(call.text);
  if (text.trim() === "") {
    throw new WaybillError("invalid_request", "text: give a text that is not empty.", { field: "text" });
  }
  if (text.length > s.answerLimit) {
    throw new WaybillError("invalid_request", `text: has at most ${s.answerLimit} characters.`, {
      field: "text",
    });
  }
  const turn = { address: run.replyTo, kind: run.kind as ConversationKind };
  const target = await chooseTarget(s, turn, call.to ?? null);
  const live = s.live(run.id);
  const isHere = target.place.address === run.replyTo;
  const wish = { run: run.id, turn: run.turn, place: target.place, text, rule: target.rule };
  const delivery = planDelivery({ kind: "send", ...wish, rejected: live?.rejected ?? [] }, s);
  const { id: message } = delivery.message;
  const item = { role: "assistant" as const, text, parts: null, sender: null, origin: message, run: run.id };
  const digest = sha256(canonicalJson([target.place.address, text]));
  const key = call.id === undefined ? null : { scope: `tool:${run.id}`, key: call.id, digest };
  const { posted, repeated, released } = await s.db.do(postByGrant, {
    tenant: s.tenant,
    run: run.id,
    graceMs: s.toolGraceMs,
    key,
    delivery,
    said: isHere ? { scope: run.scope, item: { ...item, address: run.replyTo } } : null,
  });
  if (repeated) return posted;
  if (live && isHere) {
    live.saidHere = true;
    live.appendTransient({ type: "data-said", data: { delivery: delivery.id, message, text } });
  }
  s.hear.posted(posted.address);
  if (delivery.mode === "outbox") s.hear.opsAdded();
  if (released.length > 0) s.hear.runsReady();
  return posted;
}
