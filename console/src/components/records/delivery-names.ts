import type { WireDelivery } from "../../../../src/http/api.ts";

const kinds = ["final", "notice", "say", "send", "reply", "schedule"] as const;

/** The kind of a delivery as a name for the catalogue; one that this page does not know was sent. */
export function kindOf(kind: string): (typeof kinds)[number] {
  return kinds.find((one) => one === kind) ?? "send";
}

/** The rule as a name for the catalogue. */
export function ruleKey(rule: WireDelivery["rule"]) {
  switch (rule) {
    case "last-active":
      return "last_active";
    case "latest-seen":
      return "latest_seen";
    default:
      return rule;
  }
}
