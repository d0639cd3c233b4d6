import { expect, test } from "vitest";
import { rateLimit } from "./rate-limit.ts";

test("a clock that is set back by an hour locks nobody out for an hour", () => {
  let now = 7_200_000;
  const count = rateLimit(10, { now: () => now, after: () => () => {} });
  count("a");
  now -= 3_600_000;
  count("a");
  now += 1_000;
  expect(() => count("a")).not.toThrow();
});

test("a caller is held to its own rate, and others are not", () => {
  let now = 0;
  const count = rateLimit(2, { now: () => now, after: () => () => {} });
  count("a");
  count("a");
  expect(() => count("a")).toThrow("wait 30 s");
  count("b");
  now += 30_000;
  count("a");
});
