import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findCycles, type Import, importsOf } from "./support/imports.ts";

const root = path.resolve(import.meta.dirname, "..");

/**
 * What a unit may import. An entry is a unit (a folder of src, or `index`), or one file. `all` stands for every unit
 * that is not named in `never`. What is under `types` may be imported as types only.
 */
interface Rule {
  readonly may: readonly string[] | "all";
  readonly types?: readonly string[];
  readonly never?: readonly string[];
}

const belowRuns = (
  "address db audit streams ledger deliveries peers turns schedules agents sandbox" as const
).split(" ");

/** The import table: the one place where it stands. Changing it needs a page in docs/decisions. */
const table: Readonly<Record<string, Rule>> = {
  kernel: { may: [] },
  texts: { may: [] },
  address: { may: [] },
  db: { may: [] },
  audit: { may: ["address", "db"] },
  streams: { may: ["address", "db"] },
  ledger: { may: ["address", "db", "audit"] },
  deliveries: { may: ["address", "db", "audit", "ledger"] },
  peers: { may: ["address", "db", "audit", "ledger"] },
  turns: { may: ["address", "db", "audit", "ledger", "deliveries"] },
  schedules: { may: ["address", "db", "ledger", "turns", "deliveries"] },
  agents: { may: ["address"] },
  sandbox: { may: ["address", "agents"] },
  runs: { may: belowRuns },
  // A channel is src/channels/<kind>: it knows the ports it joins, and never a sibling.
  channels: { may: ["address", "src/channels/channel.ts"], types: ["turns", "deliveries"] },
  http: { may: [...belowRuns, "runs", "src/channels/channel.ts"] },
  gateway: { may: "all", never: ["cli"] },
  "test-kit": { may: "all", never: ["cli"] },
  index: { may: ["gateway", "agents", "address"] },
  cli: { may: ["gateway", "db", "src/http/api.ts"] },
};

/** Importable by every unit but themselves. */
const shared = ["kernel", "texts"];

/** The unit of a file of src: its folder, `channels/<kind>` for a channel, `index` for src/index.ts. */
function unitOf(file: string): string {
  const [, first = "", second = ""] = file.split("/");
  if (first === "index.ts") return "index";
  if (first === "channels" && !second.endsWith(".ts")) return `channels/${second}`;
  return first;
}

function ruleOf(unit: string): Rule | undefined {
  return table[unit.startsWith("channels/") ? "channels" : unit];
}

/** Why this import breaks the table, or null. `target` is a path from the root. */
function breach(from: string, target: string, kind: Import["kind"]): string | null {
  const unit = unitOf(from);
  const rule = ruleOf(unit);
  if (rule === undefined) return `${from}: there is no row for ${unit} in the import table`;
  const refused = `${from} (${unit}) may not import ${target}${kind === "type" ? " (types)" : ""}`;
  if (!target.startsWith("src/")) return refused;
  const other = unitOf(target);
  if (other === unit) return null;
  if (shared.includes(other)) return unit === "kernel" ? refused : null;
  const listed = (list: readonly string[]) => list.includes(other) || list.includes(target);
  if (kind === "type" && listed(rule.types ?? [])) return null;
  const allowed = rule.may === "all" ? !listed(rule.never ?? []) : listed(rule.may);
  return allowed ? null : refused;
}

/** The path from the root that a relative specifier means. */
function targetOf(from: string, specifier: string): string {
  return path.posix.normalize(path.posix.join(path.posix.dirname(from), specifier));
}

interface Findings {
  readonly breaches: string[];
  readonly cycles: string[][];
  readonly packages: Map<string, string>;
  readonly edges: number;
}

/** Checks a set of sources, given as path from the root and text. */
function check(sources: ReadonlyMap<string, string>): Findings {
  const breaches: string[] = [];
  const packages = new Map<string, string>();
  const graph = new Map<string, string[]>();
  let edges = 0;
  for (const [file, text] of sources) {
    const runtime: string[] = [];
    for (const { specifier, kind } of importsOf(file, text)) {
      if (!specifier.startsWith(".")) {
        if (kind === "runtime") packages.set(specifier, file);
        continue;
      }
      edges += 1;
      const target = targetOf(file, specifier);
      const problem = breach(file, target, kind);
      if (problem !== null) breaches.push(problem);
      if (kind === "runtime") runtime.push(target);
    }
    graph.set(file, runtime);
  }
  return { breaches, cycles: findCycles(graph), packages, edges };
}

function sourcesOf(pattern: string): Map<string, string> {
  const files = globSync(pattern, { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
  return new Map(
    files.map((file) => [file.replaceAll("\\", "/"), readFileSync(path.join(root, file), "utf8")]),
  );
}

describe("the sources of src/", () => {
  const sources = sourcesOf("src/**/*.ts");
  const findings = check(sources);

  test("are seen, with their imports", () => {
    expect(sources.size).toBeGreaterThanOrEqual(8);
    expect(findings.edges).toBeGreaterThanOrEqual(4);
    expect([...sources.keys()]).toContain("src/kernel/errors.ts");
  });

  test("import only what the table allows", () => {
    expect(findings.breaches).toEqual([]);
  });

  test("have no circle of runtime imports", () => {
    expect(findings.cycles.map((cycle) => cycle.join(" -> "))).toEqual([]);
  });

  test("import only packages that a user gets or may add", () => {
    const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Record<
      string,
      object
    >;
    const declared = new Set(Object.keys({ ...manifest["dependencies"], ...manifest["peerDependencies"] }));
    const nameOf = (specifier: string) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    const undeclared = [...findings.packages].filter(([specifier]) => {
      if (specifier.startsWith("node:") || builtinModules.includes(specifier)) return false;
      return !declared.has(nameOf(specifier)) && specifier !== "waybill";
    });
    expect(undeclared).toEqual([]);
  });
});

/** What the console may take from the server's sources: types of the wire, texts, and how a stream is reduced. */
function consoleBreach(file: string, { specifier, kind }: Import): string | null {
  const refused = `${file} may not import ${specifier}`;
  if (specifier.startsWith("node:") || builtinModules.includes(specifier)) return refused;
  if (!specifier.startsWith(".")) return null;
  const target = targetOf(file, specifier);
  const page = /^console\/src\/pages\/[^/]+\//.exec(target)?.[0];
  // Pages know nothing of one another; app/pages.ts lists them.
  if (page !== undefined && !file.startsWith(page)) {
    return file === "console/src/app/pages.ts" ? null : `${refused}: it is another page's`;
  }
  if (target.startsWith("console/src/")) return null;
  if (target === "src/http/api.ts") return kind === "type" ? null : `${refused} but for its types`;
  return target.startsWith("src/texts/") || target === "src/streams/reduce.ts" ? null : refused;
}

describe("the sources of console/", () => {
  const sources = sourcesOf("console/src/**/*.{ts,tsx}");
  const found = [...sources].flatMap(([file, text]) => importsOf(file, text));

  test("are seen, with their imports", () => {
    expect(sources.size).toBeGreaterThanOrEqual(30);
    expect(found.some(({ specifier }) => specifier.endsWith("src/http/api.ts"))).toBe(true);
  });

  test("take from the server only types of the wire, texts and the reducer", () => {
    expect(found.map((one) => consoleBreach(one.from, one)).filter(Boolean)).toEqual([]);
  });

  test("have no circle of runtime imports", () => {
    const graph = new Map<string, string[]>();
    for (const file of sources.keys()) graph.set(file, []);
    for (const { from, specifier, kind } of found) {
      if (kind === "runtime" && specifier.startsWith(".")) graph.get(from)?.push(targetOf(from, specifier));
    }
    expect(findCycles(graph).map((cycle) => cycle.join(" -> "))).toEqual([]);
  });

  test.each([
    [`import { x } from "../../src/http/api.ts";`, false],
    [`import type { X } from "../../src/http/wire.ts";`, false],
    [`import { x } from "../../src/db/database.ts";`, false],
    [`import { x } from "node:fs";`, false],
    [`import { x } from "./pages/runs/run-list.tsx";`, false],
    [`import type { X } from "../../src/http/api.ts";`, true],
    [`import { x } from "../../src/texts/render.ts";`, true],
    [`import { x } from "./app/x.ts"; import "react";`, true],
  ])("are judged rightly: %s", (text, allowed) => {
    const [one] = importsOf("console/src/a.ts", text);
    expect(consoleBreach("console/src/a.ts", one!) === null).toBe(allowed);
  });
});

describe("the check itself", () => {
  const findingsOf = (files: Record<string, string>) => check(new Map(Object.entries(files)));

  test.each([
    ["src/ledger/a.ts", `import { x } from "../runs/x.ts";`],
    ["src/ledger/a.ts", `import type { X } from "../runs/x.ts";`],
    ["src/ledger/a.ts", `type X = import("../runs/x.ts").X;`],
    ["src/ledger/a.ts", `export * from "../turns/x.ts";`],
    ["src/ledger/a.ts", `const x = await import("../http/x.ts");`],
    ["src/db/a.ts", `new Worker(new URL("../ledger/x.ts", import.meta.url));`],
    ["src/kernel/a.ts", `import { x } from "../texts/x.ts";`],
    ["src/channels/web/a.ts", `import { x } from "../webhook/x.ts";`],
    ["src/channels/web/a.ts", `import { x } from "../../turns/x.ts";`],
    ["src/http/a.ts", `import { x } from "../channels/web/x.ts";`],
    ["src/gateway/a.ts", `import { x } from "../cli/main.ts";`],
    ["src/cli/a.ts", `import { x } from "../http/app.ts";`],
    ["src/kernel/a.ts", `import { x } from "../../test/support/x.ts";`],
    ["src/nobody/a.ts", `import { x } from "../kernel/x.ts";`],
  ])("finds a planted breach in %s: %s", (file, text) => {
    expect(findingsOf({ [file]: text }).breaches).toHaveLength(1);
  });

  test.each([
    ["src/ledger/a.ts", `import { x } from "../kernel/x.ts"; import { y } from "./y.ts";`],
    ["src/channels/web/a.ts", `import type { X } from "../../turns/x.ts";`],
    ["src/channels/web/a.ts", `import { x } from "../channel.ts";`],
    ["src/gateway/a.ts", `import { x } from "../channels/web/x.ts";`],
    ["src/cli/a.ts", `import type { X } from "../http/api.ts";`],
  ])("lets through what is allowed in %s: %s", (file, text) => {
    expect(findingsOf({ [file]: text }).breaches).toEqual([]);
  });

  test("finds a planted circle, and none in a circle of types", () => {
    const back = (kind: string) => ({
      "src/ledger/a.ts": `import { b } from "./b.ts";`,
      "src/ledger/b.ts": `import ${kind} { c } from "./c.ts";`,
      "src/ledger/c.ts": `import { a } from "./a.ts";`,
    });
    expect(findingsOf(back("")).cycles).toHaveLength(1);
    expect(findingsOf(back("type")).cycles).toEqual([]);
  });

  test("does not take a file that does not parse for an empty one", () => {
    expect(() => findingsOf({ "src/ledger/a.ts": "import { from" })).toThrow("does not parse");
  });
});
