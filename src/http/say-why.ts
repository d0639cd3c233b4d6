import type { DeliveryRecord } from "../deliveries/read-deliveries.ts";

const rules: Record<DeliveryRecord["rule"], (delivery: DeliveryRecord) => string> = {
  turn: ({ turn }) =>
    `the turn it answers${turn ? ` (${turn})` : ""} came from there; that address never changes`,
  explicit: ({ run }) =>
    run ? "the agent named this target, and the rules allow it" : "the operator named this target",
  "last-active": () => "it belongs to no turn, and this is where somebody spoke to the bot last",
  "latest-seen": () => "it belongs to no turn, and this is the latest place that the bot saw",
  configured: ({ schedule }) =>
    schedule === null ? "a setting of the operator names this target" : `the schedule ${schedule} names it`,
};

/** Why a delivery went where it went, and what became of it, in English for operators. */
export function sayWhy(delivery: DeliveryRecord): string {
  const { address, rule, state, rejected, receipts, reason } = delivery;
  // Of what is held there may be no address to give a reason for.
  const said = address === "" ? [] : [`It goes to ${address} because ${rules[rule](delivery)}.`];
  for (const one of rejected) said.push(`${one.address} was refused (${one.rule}): ${one.reason}.`);
  switch (state) {
    case "delivered":
      said.push(`It was posted${receipts.length > 1 ? ` in ${receipts.length} pieces` : ""}.`);
      break;
    case "pending":
    case "sending":
      said.push(reason ? `It is on its way; the last attempt said: ${reason}.` : "It is on its way.");
      break;
    case "withdrawn":
      said.push(
        delivery.schedule === null
          ? "It was a preview; the run ended without an answer, so it was taken away."
          : `It was held and is posted no more: ${reason ?? "its schedule asked an agent instead"}.`,
      );
      break;
    case "unknown":
      said.push(
        `Whether it was posted is not known: ${reason ?? "the platform did not answer"}. It is not sent again by itself.`,
      );
      break;
    case "blocked":
    case "held":
    case "dead":
      said.push(`It is ${state}: ${reason ?? "no reason was recorded"}. It went nowhere else.`);
      break;
  }
  return said.join(" ");
}
