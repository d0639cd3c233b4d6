import { describe, expect, test } from "vitest";
import { type Column, cutTo, oneLine, renderFields, renderTable, widthOf, wrapText } from "./table.ts";

test("the width of a text counts wide letters twice and marks not at all", () => {
  expect(widthOf("abc")).toBe(3);
  expect(widthOf("안녕")).toBe(4);
  expect(widthOf("e\u0301")).toBe(1);
  expect(widthOf("🚚")).toBe(2);
});

test("a text is cut by width, with an ellipsis", () => {
  expect(cutTo("abcdef", 6)).toBe("abcdef");
  expect(cutTo("abcdef", 4)).toBe("abc…");
  expect(cutTo("안녕하세요", 6)).toBe("안녕…");
});

test("a text from outside stays on its line and cannot drive the terminal", () => {
  expect(oneLine("a\r\n\u001b[2Jb\u202ec\u2028d")).toBe("a [2Jb c d");
});

describe("a table", () => {
  const columns: Column<{ id: string; text: string; more: string }>[] = [
    { title: "ID", text: (row) => row.id },
    { title: "TEXT", text: (row) => row.text, cut: true },
    { title: "MORE", text: (row) => row.more, cut: true },
  ];

  test("fits, whole columns stay whole, and what one leaves another takes", () => {
    const rows = [{ id: "run_12345", text: "short", more: "a text that is much too long for the line" }];
    const lines = renderTable(rows, columns, 40);
    expect(lines).toEqual(["ID         TEXT   MORE", "run_12345  short  a text that is much t…"]);
    expect(lines.map(widthOf)).toEqual([22, 40]);
  });

  test("has its titles also without rows", () => {
    expect(renderTable([], columns, 40)).toEqual(["ID  TEXT  MORE"]);
  });
});

test("fields stand under one another, without those that are empty; long ones go on below themselves", () => {
  expect(
    renderFields(
      [
        ["a", "one"],
        ["long name", "words that go on and on"],
        ["none", null],
      ],
      31,
    ),
  ).toEqual(["a          one", "long name  words that go on and", "           on"]);
});

test("a word that is longer than a line is broken, and nothing is lost", () => {
  expect(wrapText("ab cdefghij k", 4)).toEqual(["ab", "cdef", "ghij", "k"]);
  expect(wrapText("", 4)).toEqual([""]);
});
