import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import {
  findChromium,
  findNgircd,
  findPostgres,
  findRedis,
  skipVariables,
  variables,
} from "./test/support/services.ts";

const longTests = "**/*.long.test.ts";

/** One kind of test: its name, where its files are, and how long one test may take. */
function project(
  name: string,
  include: string[],
  testTimeout = 30_000,
  exclude = [longTests],
  globalSetup: string[] = [],
) {
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude: ["node_modules/**", "dist/**", ...exclude],
      testTimeout,
      hookTimeout: testTimeout,
      globalSetup: ["test/support/build-writer.ts", ...globalSetup],
      setupFiles: ["test/support/bundled-writer.ts"],
    },
  };
}

/** Where the services are, for tests started by hand too; `npm test` has looked before and hands them down. */
async function servicesForTests(): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  const found = {
    postgres: await findPostgres(),
    redis: await findRedis(),
    chromium: findChromium(),
    ngircd: findNgircd(),
  };
  for (const name of ["postgres", "redis", "chromium", "ngircd"] as const) {
    const service = found[name];
    // An empty address hides one that was given but does not work.
    env[variables[name]] = service.found ? service.url : "";
    if (!service.found) env[skipVariables[name]] = `${service.reason}; to get it: ${service.command}`;
  }
  return env;
}

export default defineConfig(async () => ({
  test: {
    env: await servicesForTests(),
    // Processes and not threads: a test may end up in native code (node:sqlite), set signals or change folders.
    pool: "forks",
    // Much of a test is waiting for a disk, a database or a process of its own: with the default of one on two cores the
    // contracts took 56 s, with two 37, with three 33.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    restoreMocks: true,
    // A flake is a bug of today and is shown as "(retry x1)"; but it does not keep a day's work from landing.
    retry: process.env.CI === "true" ? 1 : 0,
    projects: [
      project("unit", ["src/**/*.test.ts", "console/src/**/*.test.ts", "test/*.test.ts"]),
      project("contracts", ["test/contracts/**/*.test.ts"]),
      project("spec", ["test/spec/**/*.test.ts"]),
      project("crash", ["test/crash/**/*.test.ts"], 120_000),
      project("cli", ["test/cli/**/*.test.ts"], 60_000),
      project(
        "browser",
        ["test/browser/**/*.test.ts"],
        120_000,
        [longTests],
        ["test/browser/support/build-console.ts"],
      ),
      project(
        "long",
        [`src/${longTests}`, `test/${longTests}`],
        900_000,
        [],
        ["test/browser/support/build-console.ts"],
      ),
    ],
  },
}));
