import { validate, version } from "uuid";
import { expect, test } from "vitest";
import { relatedId, systemIds, wellFormedId } from "./ids.ts";

test("ids are UUIDv7 with a prefix, differ, and count up within a process", () => {
  const ids = Array.from({ length: 5_000 }, () => systemIds.next("run"));
  for (const id of ids) {
    const uuid = id.slice("run_".length);
    expect(validate(uuid) && version(uuid) === 7 && wellFormedId.test(id)).toBe(true);
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test("another name for the same thing keeps its number", () => {
  expect(relatedId("run_1-2-3", "str")).toBe("str_1-2-3");
});
