import { formatAddress } from "../address/address.ts";
import type { ChannelPorts } from "../channels/channel.ts";
import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";
import { findDeliveriesOfPost, readDelivery } from "../deliveries/read-deliveries.ts";
import { sayWhy } from "../http/say-why.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Locale } from "../texts/render.ts";
import type { HoldKeeper } from "./hold-keeper.ts";
import type { Inbox } from "../turns/incoming.ts";

const seen = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .selectFrom("conversations")
    .select("address")
    .where("tenant_id", "=", p.tenant)
    .where("address", "=", p.address),
);

/** A thread that an answer will open: nothing stands there yet, but whoever writes below the question is heard. */
const due = statement<{ tenant: string; address: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select("id")
    .where("tenant_id", "=", p.tenant)
    .where("reply_to", "=", p.address)
    .whereRef("reply_to", "<>", "origin")
    .limit(1),
);

export interface ChannelGround {
  tenant: string;
  db: Database;
  inbox: Inbox;
  clock: Clock;
  ids: Ids;
  log: Logger;
  config: { locale?: Locale };
  holds: HoldKeeper;
}

/** What all channels of a gateway are given alike. */
export function channelPorts(ground: ChannelGround): Omit<ChannelPorts, "alone" | "report"> {
  const { tenant, db, inbox, clock, ids, log, config, holds } = ground;
  return {
    inbox,
    clock,
    ids,
    log,
    locale: config.locale ?? "en",
    async why(id, address) {
      const place = address && formatAddress(address);
      // What is told is where and why, never what was asked: whoever asks here may not read the place it was asked in.
      const [delivery] = await findDeliveriesOfPost(db, tenant, id, place);
      const record = delivery === undefined ? null : await readDelivery(db, tenant, delivery);
      return record ? sayWhy(record) : "This post is not one of mine, or its record was removed.";
    },
    async knows(address) {
      const place = { tenant, address: formatAddress(address) };
      const [row] = await db.read(seen, place);
      return row !== undefined || (await db.read(due, place)).length > 0;
    },
    hold: (name) => holds.take(name),
  };
}
