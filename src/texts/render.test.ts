import { describe, expect, test } from "vitest";
import { en, ko, type Text, type TextKey } from "./catalogue.ts";
import { isTextKey, locales, reasonText, renderStoredText, renderText } from "./render.ts";

const keys = Object.keys(en) as TextKey[];

function variants(text: Text): string[] {
  return typeof text === "string" ? [text] : [text.one, text.other];
}

function placeholders(text: string): string[] {
  return [...new Set(text.match(/\{[^{}]*\}/g))].toSorted();
}

describe("the catalogue", () => {
  test("both languages have the same keys", () => {
    expect(Object.keys(ko).toSorted()).toEqual(keys.toSorted());
    expect(keys.length).toBeGreaterThan(30);
  });

  test.each(keys)("%s has the same placeholders in each form of each language", (key) => {
    const [first, ...others] = [...variants(en[key]), ...variants(ko[key])].map(placeholders);
    for (const other of others) expect(other).toEqual(first);
  });

  test.each(keys)("%s is written for people", (key) => {
    for (const text of [...variants(en[key]), ...variants(ko[key])]) {
      expect(text.trim()).toBe(text);
      expect(text).not.toBe("");
      expect(text.replaceAll(/\{[a-z]+\}/g, "")).not.toMatch(/[{}!]/);
    }
    for (const text of variants(ko[key])) {
      expect(text).toMatch(/[가-힣]/);
      expect(text).not.toMatch(/\}(이|가|을|를|은|는|와|과|으로|로)(?![가-힣])/);
    }
  });

  test("names are snake case, with dots between", () => {
    for (const key of keys) expect(key).toMatch(/^[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)*$/);
  });
});

describe("a rendered text", () => {
  test("has its values, in either language", () => {
    const values = { agent: "writer", age: "3 minutes", progress: "half done" };
    expect(renderText("en", "status.running_progress", values)).toBe(
      "writer: working on it for 3 minutes. Last progress: half done",
    );
    expect(renderText("ko", "status.running_progress", { ...values, age: "3분" })).toBe(
      "writer: 3분째 작업하고 있습니다. 최근 진행 상황: half done",
    );
    expect(renderText("en", "status.none")).toBe("There is no record of a run in this conversation.");
  });

  test("counts one apart from many", () => {
    expect([0, 1, 2].map((count) => renderText("en", "stop.done", { count }))).toEqual([
      "Stopped 0 runs.",
      "Stopped 1 run.",
      "Stopped 2 runs.",
    ]);
    expect(renderText("ko", "stop.done", { count: 1 })).toBe("실행 1개를 중지했습니다.");
  });

  test("takes what people wrote as it is, also if it looks like a placeholder or a replacement", () => {
    const text = renderText("en", "parts.left_out", { name: "{reason} $& $1 {x}", reason: "it is {name}" });
    expect(text).toBe("The file {reason} $& $1 {x} was left out. Reason: it is {name}");
  });

  test("names all four reserved words where it explains them", () => {
    for (const locale of locales) {
      for (const word of ["stop", "new", "status", "help"]) {
        expect(renderText(locale, "help.text")).toMatch(new RegExp(`^${word} \\(.*/${word}\\): `, "m"));
      }
    }
  });

  test("that was stored survives another version's values and keys", () => {
    expect(renderStoredText("en", "run.failed", { run: "run_1" })).toContain("(run run_1)");
    expect(renderStoredText("en", "run.failed", {})).toContain("(run ?)");
    expect(renderStoredText("en", "run.of_another_version", {})).toBeNull();
    expect(renderStoredText("en", "toString", {})).toBeNull();
    expect(isTextKey("constructor")).toBe(false);
  });

  test("gives a reason for each code, and a plain one for codes without words", () => {
    expect(reasonText("en", "deadline_exceeded")).toBe("it took longer than it may");
    expect(reasonText("ko", "deadline_exceeded")).toBe("허용 시간 초과");
    expect(reasonText("en", "Error: secret at file.ts:1")).toBe("an error in the gateway");
  });

  test("is asked for exactly its values by the compiler", () => {
    // @ts-expect-error a value is missing
    expect(renderText("en", "status.running", { agent: "writer" })).toContain("?");
    // @ts-expect-error no such key
    expect(() => renderText("en", "status.of_nothing")).toThrow(TypeError);
  });
});
