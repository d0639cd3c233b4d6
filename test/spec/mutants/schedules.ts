import type { Mutant } from "../mutants.ts";

const destinations = "test/spec/destinations.scenario.test.ts";
const schedules = "test/spec/schedules.scenario.test.ts";

/** What belongs to no turn: slots, schedules and reminders; and who was turned away. */
export const schedulesMutants: readonly Mutant[] = [
  {
    name: "planted-last-active-slot",
    ids: ["ADDR-1", "ADDR-5"],
    file: "src/runs/run-context.ts",
    find: "const target = await choose(s, live, to ?? null);",
    replace:
      'const { readSlots } = await import("../turns/slots.ts");\n  const { channel, account } = live.place;\n  const slots = await readSlots(s.db, s.tenant, `${channel}:${account}`);\n  const target = await choose(s, live, to ?? slots["last-active"]);',
    scenario: { file: destinations, name: "ADDR-1 ADDR-5: from inside a turn" },
  },
  {
    name: "slots-are-kept-unasked",
    ids: ["ADDR-5"],
    file: "src/gateway/build.ts",
    find: "slots: config.lastActive === true,",
    replace: "slots: true,",
    scenario: { file: destinations, name: "ADDR-5: switched off" },
  },
  {
    name: "slot-serves-though-switched-off",
    ids: ["ADDR-11"],
    file: "src/schedules/resolve-destination.ts",
    find: "if (!s.slots) {",
    replace: "if (!s.slots && channel === account) {",
    scenario: { file: schedules, name: "ADDR-11: an incomplete destination" },
  },
  {
    name: "refused-slot-falls-through",
    ids: ["ADDR-2", "ADDR-5"],
    file: "src/deliveries/choose-destination.ts",
    find: "if (refusal !== true) throw notAllowed(",
    replace:
      'if (refusal !== true && candidate.rule === "last-active" && question.slots?.latestSeen) {\n    return chooseDestination({ turn: null, slots: { latestSeen: question.slots.latestSeen } }, policy);\n  }\n  if (refusal !== true) throw notAllowed(',
    scenario: { file: destinations, name: "ADDR-2 ADDR-5: a slot whose place" },
  },
  {
    name: "latest-seen-before-last-active",
    ids: ["ADDR-2"],
    file: "src/schedules/resolve-destination.ts",
    find: 'const lastActive = slot === "last-active" ? slots["last-active"] : null;',
    replace: 'const lastActive = slot === "last-active" ? slots["latest-seen"] : null;',
    scenario: { file: destinations, name: "ADDR-2 ADDR-5: outside turns" },
  },
  {
    name: "clearing-one-slot-clears-both",
    ids: ["ADDR-5"],
    file: "src/turns/slots.ts",
    find: '.where("slot", "=", p.slot)\n    .returning("address")',
    replace: '.where("slot", "<>", "")\n    .returning("address")',
    scenario: { file: destinations, name: "ADDR-2 ADDR-5: outside turns" },
  },
  {
    name: "unknown-source-is-taken-for-public",
    ids: ["ADDR-7"],
    file: "src/deliveries/choose-destination.ts",
    find: 'const strict = fromKind !== "channel" ||',
    replace: 'const strict = fromKind === "dm" || fromKind === "group" ||',
    scenario: { file: "test/spec/cross-post.scenario.test.ts", name: "ADDR-7: content reaches" },
  },
  {
    name: "reminder-crosses-without-its-origin",
    ids: ["ADDR-7", "ADDR-11"],
    file: "src/schedules/resolve-destination.ts",
    find: "return found?.replyTo ?? null;",
    replace: "return found && null;",
    scenario: { file: schedules, name: "ADDR-7 ADDR-11: a reminder leaves" },
  },
  {
    name: "missing-destination-is-guessed",
    ids: ["ADDR-11"],
    file: "src/schedules/target.ts",
    find: 'if (to === null) return { kind: "incomplete", reason: "no destination is set" };',
    replace: 'if (to === null) return { kind: "address", address: parseAddress("web:main/general") };',
    scenario: { file: schedules, name: "ADDR-11: an incomplete destination" },
  },
  {
    name: "every-node-fires",
    ids: ["ADDR-11"],
    file: "src/schedules/fire-schedule.ts",
    find: '    .where("next_at", "=", p.due)\n',
    replace: '    .where("next_at", ">=", p.due)\n',
    scenario: { file: schedules, name: "ADDR-11 ADDR-2: of many nodes" },
  },
  {
    name: "all-that-was-missed-comes",
    ids: ["ADDR-11"],
    file: "src/schedules/scheduler.ts",
    find: "Math.max(now, due)",
    replace: "due",
    scenario: { file: schedules, name: "ADDR-11: what was missed" },
  },
  {
    name: "what-the-settings-left-out-goes-on",
    ids: ["ADDR-11"],
    file: "src/schedules/store-schedule.ts",
    find: "if (named.has(id)) continue;",
    replace: "if (named.has(id) || id !== tenant) continue;",
    scenario: { file: schedules, name: "ADDR-11: what was missed" },
  },
  {
    name: "schedule-says-that-it-was-named-by-hand",
    ids: ["ADDR-10"],
    file: "src/schedules/resolve-destination.ts",
    find: 'return settle(s, question, () => "configured", null);',
    replace: 'return settle(s, question, () => "explicit", null);',
    scenario: { file: schedules, name: "ADDR-11 ADDR-10: a heartbeat" },
  },
  {
    name: "denial-forgets-the-name",
    ids: ["SECU-1"],
    file: "src/turns/note-denial.ts",
    find: "name: p.name,",
    replace: "name: null,",
    scenario: { file: destinations, name: "SECU-1: who was turned away" },
  },
];
