import { statement } from "../db/statement.ts";
import type { Database } from "../db/database.ts";

/** A turn as it was accepted; its address never changes. Times are milliseconds since 1970. */
export interface TurnRecord {
  id: string;
  kind: string;
  address: string;
  lane: string;
  laneSeq: number;
  message: string | null;
  sender: { id: string; name: string | null; principal: string | null } | null;
  /** The run that caused it: of a job, of a retry. */
  causedBy: string | null;
  createdAt: number;
}

const byId = statement<{ tenant: string; turn: string }>()((k, p) =>
  k.selectFrom("turns").selectAll().where("tenant_id", "=", p.tenant).where("id", "=", p.turn),
);

export async function readTurn(db: Database, tenant: string, turn: string): Promise<TurnRecord | null> {
  const [row] = await db.read(byId, { tenant, turn });
  if (!row) return null;
  return {
    id: row.id,
    kind: row.kind,
    address: row.address,
    lane: row.lane,
    laneSeq: row.lane_seq,
    message: row.message_id,
    sender:
      row.sender_id === null ? null : { id: row.sender_id, name: row.sender_name, principal: row.principal },
    causedBy: row.caused_by,
    createdAt: row.created_at,
  };
}
