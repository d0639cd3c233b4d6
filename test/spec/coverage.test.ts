/** Requirements, scenarios and mutants, held against each other. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { citationsOf, readCitations } from "./citations.ts";
import { mutants } from "./mutants.ts";
import { requirements } from "./requirements.ts";
import { scenarioTitle } from "./scenario.ts";

const root = path.resolve(import.meta.dirname, "../..");
const citations = readCitations();
const claimed = requirements.filter(({ state }) => state !== "planned").map(({ id }) => id);

describe("the requirements", () => {
  test("have ids of their own, in families without gaps", () => {
    const ids = requirements.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const family of new Set(ids.map((id) => id.split("-")[0]))) {
      const numbers = ids.filter((id) => id.startsWith(`${family}-`)).map((id) => Number(id.split("-")[1]));
      expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
    }
  });

  test("say which part is proven, where it is not the whole", () => {
    for (const { id, state, proof } of requirements) {
      expect({ id, part: proof !== undefined }).toEqual({ id, part: state === "partly" });
    }
  });

  test("that are claimed are cited by a scenario", () => {
    const cited = new Set(citations.flatMap(({ ids }) => ids));
    expect(claimed.filter((id) => !cited.has(id))).toEqual([]);
  });

  test("that are claimed have a mutant", () => {
    const mutated = new Set<string>(mutants.flatMap(({ ids }) => ids));
    expect(claimed.filter((id) => !mutated.has(id))).toEqual([]);
  });
});

describe("the scenarios", () => {
  test("cite one to five known ids", () => {
    for (const { ids, name } of citations) expect(() => scenarioTitle(ids, name)).not.toThrow();
  });

  test("are found in a source only with ids that can be read", () => {
    const source = 'scenario(["ADDR-1", "ADDR-8"], "stays", async () => {});';
    expect(citationsOf("a.ts", source)).toEqual([{ file: "a.ts", ids: ["ADDR-1", "ADDR-8"], name: "stays" }]);
    expect(() => citationsOf("a.ts", 'scenario(ids, "stays", run);')).toThrow("array literal");
    expect(() => citationsOf("a.ts", 'scenario([id], "stays", run);')).toThrow("written as literals");
  });

  test("are refused with ids that are unknown, none, twice or too many", () => {
    expect(() => scenarioTitle(["ADDR-99"], "x")).toThrow("unknown ids: ADDR-99");
    expect(() => scenarioTitle([], "x")).toThrow("cites 0 ids");
    expect(() => scenarioTitle(["ADDR-1", "ADDR-1"], "x")).toThrow("twice");
    const six = ["ADDR-1", "ADDR-2", "ADDR-3", "ADDR-4", "ADDR-5", "ADDR-6"];
    expect(() => scenarioTitle(six, "x")).toThrow("cites 6 ids");
  });
});

describe("the mutants", () => {
  test("have names of their own", () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  for (const { name, file, find, replace, ids, scenario } of mutants) {
    test(`${name} applies in one place, and its scenario cites each of its ids`, () => {
      expect(existsSync(path.join(root, file)), `${file} exists`).toBe(true);
      const parts = readFileSync(path.join(root, file), "utf8").split(find);
      expect(parts.length - 1, `places in ${file} that match`).toBe(1);
      expect(replace).not.toBe(find);
      const matching = citations.filter((citation) => {
        const title = `${citation.ids.join(" ")}: ${citation.name}`;
        return citation.file === scenario.file && new RegExp(scenario.name).test(title);
      });
      expect(matching.length, `scenarios of ${scenario.file} that match ${scenario.name}`).toBeGreaterThan(0);
      const cited = new Set(matching.flatMap((citation) => citation.ids));
      expect(ids.filter((id) => !cited.has(id))).toEqual([]);
    });
  }
});
