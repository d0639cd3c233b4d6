import type { Mutant } from "../mutants.ts";

const file = "test/spec/address-histories.scenario.test.ts";
const name = "after any history";

/** What random histories must find. */
export const historiesMutants: readonly Mutant[] = [
  {
    name: "no-target-means-last-active",
    ids: ["ADDR-1", "ADDR-8"],
    file: "src/runs/choose-target.ts",
    find: "  const kinds = new Map<string, ConversationKind>([[turn.address, turn.kind]]);",
    replace: `  const [slot] = await s.db.query((k) =>
    k.selectFrom("slots").select("address").where("slot", "=", "last-active").orderBy("at", "desc"),
  );
  if (explicit === null && slot) turn = { ...turn, address: slot.address };
  const kinds = new Map<string, ConversationKind>([[turn.address, turn.kind]]);`,
    scenario: { file, name },
  },
  {
    name: "no-echo-means-the-latest-turn",
    ids: ["ADDR-3", "ADDR-4", "ADDR-13"],
    file: "src/runs/select-run.ts",
    find: "  if (!grant.onePlace) throw turnRequired(grant.runs);",
    replace: "",
    scenario: { file, name },
  },
];
