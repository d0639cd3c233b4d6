import type { TestResult } from "./vitest-report.ts";

export interface StageResult {
  readonly name: string;
  readonly passed: boolean;
  readonly seconds: number;
  /** Its tests; none for a stage that is a tool. */
  readonly tests: readonly TestResult[];
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Prints the stages, the tests of each store and the totals, the last as `N passed, N failed, N skipped`. A stage
 * that failed without a failing test counts as one failure, and so does each missing service when `strict`; else a
 * missing service counts as one skip. Returns whether all is well: nothing failed and, when `strict`, nothing skipped.
 */
export function printSummary(
  stages: readonly StageResult[],
  missing: readonly string[],
  strict: boolean,
): boolean {
  const tests = stages.flatMap((stage) => stage.tests);
  const lines = ["", "stage        result  seconds  tests"];
  for (const { name, passed, seconds, tests: own } of stages) {
    const cells = [name.padEnd(11), passed ? "passed" : "FAILED", seconds.toFixed(1).padStart(7)];
    lines.push([...cells, own.length > 0 ? describe(count(own)) : ""].join("  ").trimEnd());
  }
  lines.push("");
  for (const store of ["sqlite", "postgres"]) {
    const own = tests.filter(({ name }) => name.includes(`[${store}]`));
    lines.push(`on ${store.padEnd(8)}  ${describe(count(own))}`);
  }
  const skipped = tests.filter(({ state }) => state === "skipped");
  if (skipped.length > 0) {
    lines.push("", strict ? "Not run, which fails with CI=true:" : "Not run:");
    for (const { name } of skipped.slice(0, 20)) lines.push(`  ${name}`);
    if (skipped.length > 20) lines.push(`  and ${skipped.length - 20} more`);
  }
  if (missing.length > 0) lines.push("", ...missing.map((line) => `Missing: ${line}`));

  const total = count(tests);
  for (const { passed, tests: own } of stages) {
    if (!passed && !own.some(({ state }) => state === "failed")) total.failed += 1;
  }
  total[strict ? "failed" : "skipped"] += missing.length;
  process.stdout.write(`${lines.join("\n")}\n\n${describe(total)}\n`);
  return stages.length > 0 && total.failed === 0 && (!strict || total.skipped === 0);
}

function count(tests: readonly TestResult[]): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { state } of tests) counts[state] += 1;
  return counts;
}

function describe({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
