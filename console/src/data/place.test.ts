import { expect, test } from "vitest";
import { formatAddress } from "../../../src/address/address.ts";
import { addressOfPath, hrefOf, placeParts, rootOf, threadOf } from "./place.ts";

const ids = ["general", "주간-보고", "a/b", "50%", "x y", "q?a#b&c=d", "a:b", "%2F"];

test.each(ids)("a place with the id %j is found again by the path that shows it", (conversation) => {
  const address = formatAddress({ channel: "web", account: "main", conversation, thread: null });
  const href = hrefOf(address);
  expect(addressOfPath(new URL(href, "http://localhost").pathname)).toBe(address);
  expect(placeParts(address)?.conversation).toBe(conversation);
});

test.each(ids)("a thread with the id %j is found again in the query", (thread) => {
  const address = formatAddress({ channel: "web", account: "main", conversation: "general", thread });
  const url = new URL(hrefOf(address), "http://localhost");
  expect(`${addressOfPath(url.pathname)}/${url.searchParams.get("thread")}`).toBe(address);
  expect([rootOf(address), threadOf(address)]).toEqual(["web:main/general", address.split("/")[2]]);
});

test("what is no address is none", () => {
  for (const path of [
    "/chat",
    "/chat/new",
    "/chat/web:main",
    "/chat/web:main/a/b",
    "/chat/%E0%A4%A",
    "/runs/x",
  ]) {
    expect(addressOfPath(path)).toBeNull();
  }
});
