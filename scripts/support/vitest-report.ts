import { readFileSync } from "node:fs";

/** One test as the JSON reporter tells it. */
export interface TestResult {
  readonly name: string;
  readonly file: string;
  readonly state: "passed" | "failed" | "skipped";
}

interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

/** Every test of a report. A file that could not be loaded counts as one failed test of its name. */
export function readReport(file: string): TestResult[] {
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
  return testResults.flatMap((suite) => {
    const tests = suite.assertionResults.map(({ fullName, status }): TestResult => ({
      name: fullName,
      file: suite.name,
      state: stateOf(status),
    }));
    const broken = suite.status === "failed" && !tests.some(({ state }) => state === "failed");
    if (broken) tests.push({ name: `${suite.name} could not be loaded`, file: suite.name, state: "failed" });
    return tests;
  });
}

function stateOf(status: string): TestResult["state"] {
  if (status === "passed" || status === "failed") return status;
  return "skipped"; // pending, todo, disabled
}
