import { retryDelivery } from "../deliveries/retry-delivery.ts";
import type { SendRequest } from "../http/ports.ts";
import { WaybillError } from "../kernel/errors.ts";
import { sendOutside } from "../runs/send-outside.ts";
import type { RunServices } from "../runs/services.ts";
import { completeHeld, isHeld } from "../schedules/release-held.ts";
import { resolveDestination } from "../schedules/resolve-destination.ts";
import { Scheduler } from "../schedules/scheduler.ts";
import { createSchedules, type Schedules } from "../schedules/schedules.ts";
import type { ScheduleServices } from "../schedules/services.ts";
import { isSlotName, targetProblems } from "../schedules/target.ts";
import type { InboxOptions } from "../turns/inbox.ts";
import { clearSlot, type SlotName } from "../turns/slots.ts";
import type { FeedHub } from "./feed.ts";

/** What fires, what operators handle, and what they do about destinations outside turns. */
export interface ScheduleParts {
  scheduler: Scheduler;
  schedules: Schedules;
  control: ReturnType<typeof slotControl>;
}

/** Joins the schedules of a gateway; nothing fires before the scheduler is started. */
export function openSchedules(
  s: RunServices,
  inbox: InboxOptions,
  feed: Pick<FeedHub, "publish">,
): ScheduleParts {
  const { tenant, db, ids, log, locale, senders, allows, crossPost, memory, caps, clock } = s;
  const { posted, opsAdded, runsReady, schedulesChanged = () => {} } = s.hear;
  const held = (delivery: string, address: string): void =>
    feed.publish({ kind: "delivery", address, delivery });
  const services: ScheduleServices = {
    tenant,
    db,
    ids,
    log,
    locale,
    senders,
    allows,
    crossPost,
    memory,
    caps,
    clock,
    agent: inbox.agent,
    slots: inbox.slots,
    hear: { posted, opsAdded, runsReady, schedulesChanged, held },
  };
  return {
    scheduler: new Scheduler(services),
    schedules: createSchedules(services),
    control: slotControl(s, services),
  };
}

/** What an operator does about destinations outside turns. */
function slotControl(s: RunServices, schedules: ScheduleServices) {
  return {
    async retryDelivery(delivery: string, to?: string): Promise<{ state: string }> {
      if (to !== undefined || (await isHeld(schedules, delivery))) {
        const fired = await completeHeld(schedules, delivery, to ?? null);
        if (fired.run !== null) return { state: "withdrawn" };
        return { state: fired.outbox ? "pending" : "delivered" };
      }
      const state = await s.db.do(retryDelivery, { tenant: s.tenant, delivery });
      s.hear.opsAdded();
      return state;
    },
    async send(request: SendRequest): ReturnType<typeof sendOutside> {
      const { account, ...rest } = request;
      if (!isSlotName(request.to) && account === undefined) return sendOutside(s, rest);
      return sendOutside(s, { ...rest, ...(await slotOf(schedules, request)) });
    },
    clearSlot: (account: string, slot: SlotName): Promise<string | null> =>
      s.db.do(clearSlot, { tenant: s.tenant, account, slot }),
  };
}

/** The place in a slot that an operator's own send asks for. */
async function slotOf(s: ScheduleServices, request: SendRequest) {
  const { to, account = null, run } = request;
  const issues: { field: string; rule: string }[] = targetProblems({ to, account });
  if (run !== undefined) {
    issues.push({ field: "to", rule: "names a slot, which serves only sends that belong to no run." });
  }
  if (issues.length > 0) {
    const said = issues.map(({ field, rule }) => `${field} ${rule}`).join(" ");
    throw new WaybillError("invalid_request", said, { issues });
  }
  const resolved = await resolveDestination(s, { to, account });
  if (resolved.kind === "found") return { to: resolved.place.address, rule: resolved.rule };
  const { kind, address, rule, reason } = resolved;
  const code = kind === "blocked" ? "destination_not_allowed" : "no_destination";
  throw new WaybillError(code, `${reason}. Name an address, like web:main/general.`, {
    rule,
    reason,
    ...(address === "" ? {} : { address }),
  });
}
