import type { Mutant } from "../mutants.ts";

const tools = "test/spec/tools.scenario.test.ts";
const roads = { file: "test/spec/roads.scenario.test.ts", name: "ADDR-4 ADDR-7 ADDR-8: 50 roads" };

/** What a tool's token may act for, and which turn a call belongs to. */
export const toolsMutants: readonly Mutant[] = [
  {
    name: "late-call-goes-to-the-live-turn",
    ids: ["ADDR-4", "ADDR-13"],
    file: "src/runs/select-run.ts",
    find: "if (!grant.onePlace) throw turnRequired(grant.runs);",
    replace: "",
    scenario: { file: tools, name: "ADDR-4 ADDR-13: a late call" },
  },
  {
    name: "what-ended-is-forgotten-at-once",
    ids: ["ADDR-13"],
    file: "src/ledger/grants.ts",
    find: 'e("r.finished_at", ">", p.since)',
    replace: 'e("r.finished_at", "<", 0)',
    scenario: { file: tools, name: "ADDR-4 ADDR-13: a late call" },
  },
  {
    name: "grace-never-ends",
    ids: ["ADDR-13"],
    file: "src/gateway/build.ts",
    find: "toolGraceMs: config.tools?.graceMs ?? 60_000,",
    replace: "toolGraceMs: 60_000,",
    scenario: { file: tools, name: "ADDR-13 ADDR-4: after the grace time" },
  },
  {
    name: "echo-is-believed",
    ids: ["ADDR-4"],
    file: "src/runs/echo.ts",
    find: "if (sameText(given, signature(address, turn)))",
    replace: 'if (given !== signature("", ""))',
    scenario: { file: tools, name: "ADDR-4: an echo that is forged" },
  },
  {
    name: "echo-only-as-it-was-written",
    ids: ["ADDR-3"],
    file: "src/runs/echo.ts",
    find: '.replace(/^reply_to=/, "")',
    replace: "",
    scenario: { file: tools, name: "ADDR-3 ADDR-4: a process that is used again" },
  },
  {
    name: "refusal-takes-the-turn-away",
    ids: ["ADDR-6"],
    file: "src/runs/select-run.ts",
    find: 'export function selectRun(grant: Pick<Grant, "runs" | "onePlace">, hint: TurnHint): Selection {',
    replace:
      'export function selectRun(grant: Pick<Grant, "runs" | "onePlace">, hint: TurnHint): Selection {\n  if (Reflect.get(globalThis, "asked") === grant.runs[0]?.id) throw turnRequired(grant.runs);\n  Reflect.set(globalThis, "asked", grant.runs[0]?.id);',
    scenario: { file: tools, name: "ADDR-6 ADDR-8: who was refused once" },
  },
  {
    name: "any-rule-lets-a-message-out",
    ids: ["ADDR-7"],
    file: "src/runs/choose-target.ts",
    find: "[[turn.address, turn.kind]]",
    replace: '[[turn.address, "channel"]]',
    scenario: roads,
  },
  {
    name: "grant-opens-the-whole-api",
    ids: ["ADDR-4"],
    file: "src/http/door.ts",
    find: 'if (path === toolsPath || (path === "/v1/sends" && method === "POST")) {',
    replace: 'if (path !== "" || method === "POST") {',
    scenario: roads,
  },
];
