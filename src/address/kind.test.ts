import { expect, test } from "vitest";
import { conversationKinds, isWider, widthOf } from "./kind.ts";

test("from a direct message outwards the kinds grow wider, and unknown is the widest", () => {
  expect(conversationKinds.toSorted((a, b) => widthOf(a) - widthOf(b))).toEqual([
    "dm",
    "group",
    "channel",
    "unknown",
  ]);
});

test("something unknown is taken at its worst at either end", () => {
  const wider = conversationKinds.flatMap((than) =>
    conversationKinds.filter((to) => isWider(to, than)).map((to) => `${than} to ${to}`),
  );
  expect(wider).toEqual([
    "dm to group",
    "dm to channel",
    "dm to unknown",
    "group to channel",
    "group to unknown",
    "channel to unknown",
    "unknown to group",
    "unknown to channel",
    "unknown to unknown",
  ]);
});
