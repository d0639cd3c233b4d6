/** Tables of the processes that work on one store. */

export interface NodesTable {
  tenant_id: string;
  boot_id: string;
  host: string;
  pid: number;
  started_at: number;
  lease_until: number;
  ended_at: number | null;
}

export interface NodeAgentsTable {
  tenant_id: string;
  boot_id: string;
  agent: string;
  version: string;
}

export interface NodeChannelsTable {
  tenant_id: string;
  boot_id: string;
  channel: string;
  account: string;
}

export interface HoldsTable {
  tenant_id: string;
  name: string;
  boot_id: string;
  at: number;
}
