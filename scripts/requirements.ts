/** Prints every requirement with its state, its scenarios and its mutants. With `--json`, as data. */
import { readCitations } from "../test/spec/citations.ts";
import { mutants } from "../test/spec/mutants.ts";
import { requirements } from "../test/spec/requirements.ts";

// Piped into head or a pager that is closed early.
process.stdout.on("error", () => {});

const citations = readCitations();
const rows = requirements.map(({ id, state, text, proof }) => ({
  id,
  state,
  text,
  proof: proof ?? null,
  scenarios: citations.filter(({ ids }) => ids.includes(id)).map(({ name, file }) => ({ name, file })),
  mutants: mutants.filter(({ ids }) => ids.some((cited) => cited === id)).map(({ name }) => name),
}));

if (process.argv.includes("--json")) {
  process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
} else {
  const line = (...cells: [string, string, string, string, string]) => {
    const [id, state, scenarios, killed, text] = cells;
    const fixed = [id.padEnd(8), state.padEnd(8), scenarios.padStart(9), killed.padStart(8)];
    process.stdout.write(`${fixed.join("  ")}  ${text}\n`);
  };
  line("id", "state", "scenarios", "mutants", "requirement");
  for (const { id, state, scenarios, mutants: killed, text, proof } of rows) {
    line(
      id,
      state,
      String(scenarios.length),
      String(killed.length),
      proof === null ? text : `${text} (${proof})`,
    );
  }
  const count = (state: string) => rows.filter((row) => row.state === state).length;
  process.stdout.write(`\n${count("done")} done, ${count("partly")} partly, ${count("planned")} planned\n`);
}
