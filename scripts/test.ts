/**
 * `npm test`: prepares the services, then runs every stage and prints a line for each. All stages run, whatever
 * failed before.
 *
 *     npm test                          everything
 *     npm test -- unit contracts        those stages
 *     npm run test:long                 the long rounds only
 *
 * What cannot be had is skipped with the reason and the command that gets it. With CI=true a skip fails.
 */
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as services from "../test/support/services.ts";
import { binary, root } from "./support/paths.ts";
import { onInterrupt, runNode } from "./support/run.ts";
import { printSummary, type StageResult } from "./support/summary.ts";
import { readReport, type TestResult } from "./support/vitest-report.ts";

interface Stage {
  readonly name: string;
  /** Runs it; the exit code, and the tests where it has tests. */
  readonly run: () => Promise<{ code: number; tests: TestResult[] }>;
}

const strict = process.env["CI"] === "true";
const temporary = mkdtempSync(path.join(tmpdir(), "waybill-test-"));
// Hundreds of processes are started that all load the same modules: half of that time is compiling them.
process.env.NODE_COMPILE_CACHE ??= path.join(temporary, "compiled");
const started: services.Service[] = [];
/** One line for each service that is missing. */
const missing: string[] = [];

async function cleanUp(): Promise<void> {
  for (const service of started) if (service.found) await service.stop?.();
  rmSync(temporary, { recursive: true, force: true });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Finds or starts what the tests need, and hands the addresses down through the environment. */
async function prepareServices(browserTests: boolean): Promise<void> {
  const use = (name: keyof typeof services.variables, service: services.Service) => {
    started.push(service);
    if (service.found) {
      process.env[services.variables[name]] = service.url;
      say(`service  ${name.padEnd(9)} ${service.url} (${service.from})`);
      return;
    }
    missing.push(`${name}: ${service.reason}; to get it: ${service.command}`);
    say(
      `service  ${name.padEnd(9)} ${strict ? "MISSING" : "skipped"}: ${service.reason}; to get it: ${service.command}`,
    );
  };
  use("postgres", await services.preparePostgres());
  use("redis", await services.prepareRedis());
  use("ngircd", services.prepareNgircd());
  if (browserTests) use("chromium", services.prepareChromium());
}

function tool(name: string, args: readonly string[]): Stage {
  return {
    name,
    run: async () => ({ code: (await runNode(args, { cwd: root, show: true })).code, tests: [] }),
  };
}

/** The tests of one project of vitest.config.ts. */
function tests(name: string, project: string, files: readonly string[] = []): Stage {
  return {
    name,
    run: async () => {
      const report = path.join(temporary, `${name}.json`);
      const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
      const args = [binary("vitest", "vitest"), "run", "--project", project, ...reporters, ...files];
      let { code } = await runNode(args, { cwd: root, show: true });
      if (code !== 0 && process.env.CI === "true") {
        // A test process of vitest ended once with SIGSEGV (Node 24.21, in a store test), which no test can retry.
        say(`=== ${name} failed; CI tries it once more, and a failure that is gone then is still a bug`);
        ({ code } = await runNode(args, { cwd: root, show: true }));
      }
      return { code, tests: readTests(report) };
    },
  };
}

function readTests(report: string): TestResult[] {
  try {
    return readReport(report);
  } catch {
    return []; // vitest died before it wrote one; its exit code counts
  }
}

function has(pattern: string): boolean {
  return globSync(pattern, { cwd: root }).length > 0;
}

/** The stages that exist, in order. */
function stagesOf(long: boolean): Stage[] {
  if (long) return has("{src,test}/**/*.long.test.ts") ? [tests("long", "long")] : [];
  const stages = [
    tool("format", [binary("oxfmt", "oxfmt"), "--check", "."]),
    tool("lint", [binary("oxlint", "oxlint"), "--type-aware", "--deny-warnings"]),
    tool("types", [binary("typescript", "tsc"), "-p", "."]),
    tool("types of the console", [binary("typescript", "tsc"), "-p", "console"]),
    tests("layers", "unit", ["test/layers.test.ts"]),
    tests("unit", "unit", ["--exclude", "test/layers.test.ts"]),
  ];
  if (has("test/contracts/**/*.test.ts")) stages.push(tests("contracts", "contracts"));
  if (has("test/spec/**/*.test.ts")) stages.push(tests("scenarios", "spec"));
  if (has("test/crash/**/*.test.ts")) stages.push(tests("crash", "crash"));
  if (has("test/cli/**/*.test.ts")) stages.push(tests("commands", "cli"));
  if (has("test/browser/**/*.test.ts")) stages.push(tests("browser", "browser"));
  if (has("src/cli/main.ts")) stages.push(tool("package", ["scripts/package-check.ts"]));
  return stages;
}

async function runStage(stage: Stage): Promise<StageResult> {
  say(`\n=== ${stage.name}`);
  const begun = performance.now();
  const { code, tests: results } = await stage.run();
  const seconds = (performance.now() - begun) / 1_000;
  say(`=== ${stage.name} ${code === 0 ? "passed" : "FAILED"} in ${seconds.toFixed(1)} s`);
  return { name: stage.name, passed: code === 0, seconds, tests: results };
}

async function main(): Promise<number> {
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const all = stagesOf(process.argv.includes("--long"));
  const unknown = names.filter((name) => !all.some((stage) => stage.name === name));
  if (unknown.length > 0) {
    say(`There is no stage ${unknown.join(", ")}; there are ${all.map(({ name }) => name).join(", ")}.`);
    return 2;
  }
  const chosen = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  await prepareServices(chosen.some(({ name }) => name === "browser"));
  const results: StageResult[] = [];
  for (const stage of chosen) results.push(await runStage(stage));
  return printSummary(results, missing, strict) ? 0 : 1;
}

onInterrupt(cleanUp);
try {
  process.exitCode = await main();
} finally {
  await cleanUp();
}
