/**
 * Applies each mutant in a copy of the checkout and expects its scenario to fail.
 *
 *     npm run mutants                  all
 *     npm run mutants -- <name> ...    those
 *     npm run mutants -- --json        the result as data, on the last line
 *
 * Exit 1 when a mutant survives, cannot be applied, or makes its scenario unloadable (which proves nothing), and
 * when a scenario is red without any mutant.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Mutant, mutants } from "../test/spec/mutants.ts";
import { preparePostgres, prepareRedis, type Service, variables } from "../test/support/services.ts";
import { binary, root } from "./support/paths.ts";
import { onInterrupt, runNode } from "./support/run.ts";
import { readReport, type TestResult } from "./support/vitest-report.ts";

type Outcome = "killed" | "survived" | "broken";
interface Verdict {
  readonly name: string;
  readonly outcome: Outcome;
  readonly why: string;
}

const parallel = 2;
const timeoutMs = 180_000;
const notCopied = new Set([
  "node_modules",
  "dist",
  ".git",
  ".waybill",
  ".vitest",
  "coverage",
  "test-results",
]);

const temporary = mkdtempSync(path.join(tmpdir(), "waybill-mutants-"));
const services: Service[] = [];

async function cleanUp(): Promise<void> {
  for (const service of services) if (service.found) await service.stop?.();
  rmSync(temporary, { recursive: true, force: true });
}

/** A copy of the checkout that shares its node_modules. */
function copyCheckout(name: string): string {
  const copy = path.join(temporary, name);
  cpSync(root, copy, { recursive: true, filter: (file) => !notCopied.has(path.relative(root, file)) });
  symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"), "dir");
  return copy;
}

/** Runs the tests of a file whose title matches. Only those tests are in `results`. */
async function runScenario(copy: string, file: string, pattern: string, bail: boolean) {
  const report = path.join(copy, "report.json");
  rmSync(report, { force: true });
  const flags = [
    "--reporter=json",
    `--outputFile=${report}`,
    "--fsModuleCache=false",
    `--bail=${bail ? 1 : 0}`,
  ];
  const args = [binary("vitest", "vitest"), "run", file, "-t", pattern, ...flags];
  const ended = await runNode(args, { cwd: copy, show: false, timeoutMs });
  let results: TestResult[] | null;
  try {
    results = readReport(report).filter(({ state }) => state !== "skipped");
  } catch {
    results = null;
  }
  return { ...ended, results };
}

async function judge(mutant: Mutant, copy: string): Promise<Verdict> {
  const { name, file, find, replace, scenario } = mutant;
  const target = path.join(copy, file);
  const source = readFileSync(target, "utf8");
  const places = source.split(find).length - 1;
  if (places !== 1) return { name, outcome: "broken", why: `its text stands ${places} times in ${file}` };
  writeFileSync(
    target,
    source.replace(find, () => replace),
  );
  try {
    const { results, timedOut, output } = await runScenario(copy, scenario.file, scenario.name, true);
    if (timedOut) return { name, outcome: "killed", why: `its scenario hung for ${timeoutMs / 1_000} s` };
    if (results === null) return { name, outcome: "broken", why: output.slice(-600) };
    const failed = results.filter(({ state }) => state === "failed");
    const unloadable = failed.find(({ name: title }) => title.endsWith("could not be loaded"));
    if (unloadable) return { name, outcome: "broken", why: `${scenario.file} could not be loaded` };
    if (failed[0]) return { name, outcome: "killed", why: failed[0].name };
    return { name, outcome: "survived", why: `${results.length} tests passed: ${scenario.name}` };
  } finally {
    writeFileSync(target, source);
  }
}

/** The scenarios without any mutant; each pattern must match, and all must be green. */
async function baseline(chosen: readonly Mutant[], copy: string): Promise<string[]> {
  const problems: string[] = [];
  const files = new Map<string, Set<string>>();
  for (const { scenario } of chosen) {
    files.set(scenario.file, (files.get(scenario.file) ?? new Set()).add(scenario.name));
  }
  for (const [file, patterns] of files) {
    const all = [...patterns].map((pattern) => `(?:${pattern})`).join("|");
    const { results, output, timedOut } = await runScenario(copy, file, all, false);
    if (results === null) problems.push(`${file}: ${timedOut ? "it hung" : output.slice(-600)}`);
    for (const { name, state } of results ?? [])
      if (state === "failed") problems.push(`${file}: red: ${name}`);
    for (const pattern of patterns) {
      const matched = (results ?? []).some(({ name }) => new RegExp(pattern).test(name));
      if (!matched && results !== null) problems.push(`${file}: no test that runs matches ${pattern}`);
    }
    process.stdout.write(`baseline  ${file}: ${results?.length ?? 0} tests\n`);
  }
  return problems;
}

async function judgeAll(chosen: readonly Mutant[], copies: readonly string[]): Promise<Verdict[]> {
  const waiting = [...chosen];
  const verdicts: Verdict[] = [];
  const work = async (copy: string) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const verdict = await judge(mutant, copy);
      verdicts.push(verdict);
      const place = `${verdicts.length}/${chosen.length}`;
      process.stdout.write(`${verdict.outcome.padEnd(8)}  ${place}  ${verdict.name}: ${verdict.why}\n`);
    }
  };
  await Promise.all(copies.map(work));
  return verdicts;
}

async function main(): Promise<number> {
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const unknown = names.filter((name) => !mutants.some((mutant) => mutant.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no mutant ${unknown.join(", ")} in test/spec/mutants.ts.\n`);
    return 2;
  }
  const chosen = names.length === 0 ? mutants : mutants.filter(({ name }) => names.includes(name));
  for (const [variable, service] of [
    [variables.postgres, await preparePostgres()],
    [variables.redis, await prepareRedis()],
  ] as const) {
    services.push(service);
    if (service.found) process.env[variable] = service.url;
  }
  const copies = Array.from({ length: Math.max(1, Math.min(parallel, chosen.length)) }, (_, index) =>
    copyCheckout(String(index)),
  );
  const problems = await baseline(chosen, copies[0] ?? "");
  if (problems.length > 0) {
    process.stdout.write(
      `The scenarios must be green before a mutant can turn them red:\n${problems.join("\n")}\n`,
    );
    return 1;
  }
  const verdicts = await judgeAll(chosen, copies);
  const count = (outcome: Outcome) => verdicts.filter((verdict) => verdict.outcome === outcome).length;
  if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(verdicts)}\n`);
  process.stdout.write(
    `${verdicts.length} mutants: ${count("killed")} killed, ${count("survived")} survived, ${count("broken")} broken\n`,
  );
  return count("killed") === verdicts.length ? 0 : 1;
}

onInterrupt(cleanUp);
try {
  process.exitCode = await main();
} finally {
  await cleanUp();
}
