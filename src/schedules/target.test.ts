import { expect, test } from "vitest";
import { parseAccount, readTarget, targetProblems } from "./target.ts";

const wish = (to: string | null, account: string | null = null) => ({ to, account });

test.each([
  ["web:main/general", "address"],
  ["slack:T1/C1/1700.1", "address"],
  ["slack:T1", "incomplete"],
  ["slack:T1/", "incomplete"],
  [null, "incomplete"],
])("%j is %s", (to, kind) => {
  expect(targetProblems(wish(to))).toEqual([]);
  expect(readTarget(wish(to))).toMatchObject({ kind });
});

test("a slot names whose it is", () => {
  expect(readTarget(wish("last-active", "slack:T1"))).toEqual({
    kind: "slot",
    slot: "last-active",
    channel: "slack",
    account: "T1",
  });
  expect(targetProblems(wish("latest-seen"))).toMatchObject([{ field: "account" }]);
  expect(targetProblems(wish("latest-seen", "slack"))).toMatchObject([{ field: "account" }]);
  expect(targetProblems(wish("latest-seen", "slack:T1/C1"))).toMatchObject([{ field: "account" }]);
});

test.each([
  "general",
  "slack",
  "slack:T1/C 1",
  "slack:T1/C1/t/x",
  "last_active",
  "*",
  "slack:T1/*",
  "slack:",
])("%j is refused, not held", (to) => {
  expect(targetProblems(wish(to))).toMatchObject([{ field: "to" }]);
});

test("an account goes with a slot only", () => {
  expect(targetProblems(wish("web:main/general", "web:main"))).toMatchObject([{ field: "account" }]);
});

test("an account is the beginning of its addresses, encoded as they are", () => {
  expect(parseAccount("irc:chat.example%2F1")).toEqual({ channel: "irc", account: "chat.example/1" });
  expect(parseAccount("irc:a b")).toBeNull();
});
