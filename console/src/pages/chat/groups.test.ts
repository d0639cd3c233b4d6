import { describe, expect, test } from "vitest";
import type { WireConversation } from "../../../../src/http/api.ts";
import { groupConversations, inOrder } from "./groups.ts";

function place(address: string, more: Partial<WireConversation> = {}): WireConversation {
  const [root = "", conversation = "", thread = null] = address.split("/");
  return {
    address,
    parent: thread === null ? null : `${root}/${conversation}`,
    channel: "web",
    account: "main",
    conversation,
    thread,
    kind: "dm",
    title: null,
    lastPostSeq: 1,
    createdAt: "2026-11-30T12:00:00Z",
    lastAt: "2026-11-30T12:00:00Z",
    ...more,
  };
}

const items = [
  place("web:main/general", { kind: "channel", lastPostSeq: 5 }),
  place("web:main/general/t1", { lastPostSeq: 2 }),
  place("web:main/general/t2", { lastPostSeq: 2 }),
  place("web:main/alice"),
  place("slack:T1/C1", { channel: "slack", kind: "unknown", title: "oncall" }),
];
const read = { "web:main/general": 3, "web:main/general/t1": 2, "web:main/alice": 1, "slack:T1/C1": 1 };

describe("the list of conversations", () => {
  test("has channels apart from direct messages, and counts what is unread", () => {
    const groups = groupConversations(items, { wish: "", active: null, read });
    expect(groups.channels.map(({ conversation, unread }) => [conversation.address, unread])).toEqual([
      ["web:main/general", 2],
    ]);
    expect(groups.direct.map(({ conversation }) => conversation.address)).toEqual([
      "web:main/alice",
      "slack:T1/C1",
    ]);
  });

  test("shows threads that are unread, and all of the open conversation", () => {
    const threads = (active: string | null) =>
      groupConversations(items, { wish: "", active, read }).channels[0]?.threads.map(
        ({ conversation }) => conversation.thread,
      );
    expect(threads(null)).toEqual(["t2"]);
    expect(threads("web:main/general")).toEqual(["t1", "t2"]);
    expect(threads("web:main/general/t1")).toEqual(["t1", "t2"]);
  });

  test("is searched by title, name and address; a thread brings its conversation", () => {
    const found = (wish: string) =>
      inOrder(groupConversations(items, { wish, active: null, read })).map(({ address }) => address);
    expect(found("ONCALL")).toEqual(["slack:T1/C1"]);
    expect(found("slack c1")).toEqual(["slack:T1/C1"]);
    expect(found("t1")).toEqual(["web:main/general", "web:main/general/t1", "slack:T1/C1"]);
    expect(found("nobody")).toEqual([]);
  });
});
