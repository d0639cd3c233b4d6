import { expect, test } from "vitest";
import { ageText } from "./age.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [-5 * second, "1 second", "1초"],
  [0, "1 second", "1초"],
  [Number.NaN, "1 second", "1초"],
  [1_999, "1 second", "1초"],
  [59_999, "59 seconds", "59초"],
  [minute, "1 minute", "1분"],
  [3 * minute + 59 * second, "3 minutes", "3분"],
  [hour - 1, "59 minutes", "59분"],
  [hour, "1 hour", "1시간"],
  [hour + 20 * minute, "1 hour 20 minutes", "1시간 20분"],
  [2 * hour + minute + second, "2 hours 1 minute", "2시간 1분"],
  [day - 1, "23 hours 59 minutes", "23시간 59분"],
  [day + 59 * minute, "1 day", "1일"],
  [2 * day + 3 * hour, "2 days 3 hours", "2일 3시간"],
  [90 * day, "90 days", "90일"],
])("%d ms is %s, %s", (ms, english, korean) => {
  expect(ageText("en", ms)).toBe(english);
  expect(ageText("ko", ms)).toBe(korean);
});
