import { expect, test } from "vitest";
import type { Database } from "../db/database.ts";
import type { FeedHint } from "../http/ports.ts";
import { FeedHub } from "./feed.ts";

const quiet = { notify() {} } as unknown as Database;

test("a notification that is no hint is left out; it comes from another process, which may be of another version", () => {
  const feed = new FeedHub(quiet);
  const heard: FeedHint[] = [];
  feed.subscribe(null, (hint) => heard.push(hint));
  expect(feed.receive("feed {not json")).toBe(false);
  expect(feed.receive("feed null")).toBe(false);
  expect(feed.receive("runs")).toBe(false);
  const hint: FeedHint = { kind: "posted", address: "web:main/a" };
  expect(feed.receive(`feed ${JSON.stringify(hint)}`)).toBe(true);
  expect(heard).toEqual([hint]);
});
