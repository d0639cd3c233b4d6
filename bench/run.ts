import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import type { Figure } from "./support/figures.ts";

/** `npm run bench [-- name ...]`: each bench in a process of its own, one after another; results as a table and JSON. */
const benches = [
  "turns",
  "start-latency",
  "token-gaps",
  "stream-rate",
  "readers",
  "ready",
  "console",
] as const;

async function run(name: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  const child = fork(new URL(`./${name}.ts`, import.meta.url), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.on("message", (message: { figures: Figure[] }) => figures.push(...message.figures));
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0 || figures.length === 0)
    throw new Error(`The bench ${name} ended with ${code} and no figures.`);
  return figures;
}

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(benches as readonly string[]).includes(name));
if (unknown !== undefined) {
  console.error(`There is no bench ${unknown}. There are: ${benches.join(", ")}`);
  process.exit(2);
}
const file = "bench/results/latest.json";
// Benches that are not asked for keep the figures of their last run.
const results: Record<string, Figure[]> = existsSync(file)
  ? (JSON.parse(readFileSync(file, "utf8")) as { results: Record<string, Figure[]> }).results
  : {};
let missed = 0;
for (const name of asked.length > 0 ? asked : benches) {
  console.log(`\n${name}`);
  results[name] = await run(name);
  for (const figure of results[name]) {
    if (figure.met === false) missed += 1;
    const verdict = figure.goal === null ? "" : `${figure.met ? "met" : "MISSED"} (goal ${figure.goal})`;
    console.log(
      `  ${figure.name.padEnd(68)} ${String(figure.value).padStart(10)} ${figure.unit.padEnd(9)} ${verdict}`,
    );
  }
}
const machine = {
  node: process.version,
  cores: cpus().length,
  model: cpus()[0]?.model,
  memoryGb: Math.round(totalmem() / 1e9),
};
mkdirSync("bench/results", { recursive: true });
writeFileSync(file, `${JSON.stringify({ machine, results }, null, 2)}\n`);
console.log(`\n${file} written; ${missed === 0 ? "every goal met" : `${missed} goals missed`}`);
