import { describe, expect, test } from "vitest";
import type { WireMessage, WireRun } from "../../../../src/http/api.ts";
import type { Outgoing } from "../../data/outgoing.ts";
import { buildRows } from "./rows.ts";

const noon = new Date(2026, 10, 30, 12).getTime();

function message(postSeq: number, more: Partial<WireMessage> = {}): WireMessage {
  return {
    id: `msg_${postSeq}`,
    address: "web:main/alpha",
    postSeq,
    role: "user",
    text: "hello",
    parts: [],
    notice: null,
    turn: null,
    run: null,
    delivery: null,
    platformId: null,
    sender: { id: "alice", name: "Alice" },
    at: new Date(noon + postSeq * 1_000).toISOString(),
    ...more,
  };
}

const build = (messages: WireMessage[], more: Partial<Parameters<typeof buildRows>[0]> = {}) =>
  buildRows({ messages, runs: [], outgoing: [], readTo: null, ...more });

const kinds = (rows: ReturnType<typeof build>) => rows.map(({ kind }) => kind);

describe("rows", () => {
  test("begin each day with a line, by the reader's calendar", () => {
    const rows = build([message(1), message(2, { at: new Date(noon + 86_400_000).toISOString() })]);
    expect(kinds(rows)).toEqual(["day", "message", "day", "message"]);
  });

  test("put what one person says in a row under one name, and nobody else's", () => {
    const rows = build([
      message(1),
      message(2),
      message(3, { sender: { id: "bob", name: "Bob" } }),
      message(4, { at: new Date(noon + 600_000).toISOString(), sender: { id: "bob", name: "Bob" } }),
    ]);
    expect(rows.map((row) => (row.kind === "message" ? row.first : row.kind))).toEqual([
      "day",
      true,
      false,
      true,
      true,
    ]);
  });

  test("put answers of two runs under two names", () => {
    const answer = (postSeq: number, run: string) =>
      message(postSeq, { role: "assistant", run, sender: null });
    const rows = build([answer(1, "run_1"), answer(2, "run_1"), answer(3, "run_2")]);
    expect(rows.flatMap((row) => (row.kind === "message" ? [row.first] : []))).toEqual([true, false, true]);
  });

  test("show where reading had stopped, and not below everything", () => {
    expect(kinds(build([message(1), message(2)], { readTo: 1 }))).toEqual([
      "day",
      "message",
      "unread",
      "message",
    ]);
    expect(kinds(build([message(1), message(2)], { readTo: 2 }))).not.toContain("unread");
  });

  test("end with live runs, which know whether they have said something already", () => {
    const runs = [{ id: "run_1" }, { id: "run_2" }] as WireRun[];
    const rows = build([message(1), message(2, { role: "assistant", run: "run_1" })], { runs });
    expect(rows.flatMap((row) => (row.kind === "live" ? [[row.run.id, row.said]] : []))).toEqual([
      ["run_1", true],
      ["run_2", false],
    ]);
  });

  test("show a message on its way until it is among the messages", () => {
    const outgoing = [{ id: "web-1" }, { id: "web-2" }] as Outgoing[];
    const rows = build([message(1, { platformId: "web-1" })], { outgoing });
    expect(rows.flatMap((row) => (row.kind === "outgoing" ? [row.outgoing.id] : []))).toEqual(["web-2"]);
  });
});
