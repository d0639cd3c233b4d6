import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WaybillError } from "../kernel/errors.ts";
import {
  type Address,
  formatAddress,
  inThread,
  isWithin,
  parentOf,
  parseAddress,
  sameAddress,
  sameConversation,
  tryParseAddress,
} from "./address.ts";

/** Ids as no platform gives them: with every character of the format, and with whatever Unicode has. */
const anyId = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 }),
    fc.string({
      unit: fc.constantFrom(
        "/",
        "%",
        "*",
        ":",
        "#",
        " ",
        "2",
        "F",
        "\0",
        "\n",
        "\u2028",
        "\u202e",
        "\ufeff",
        "한",
        "a",
      ),
      minLength: 1,
      maxLength: 6,
    }),
    fc.constantFrom("*", ".", "..", "%2F", "%", "a"),
  )
  .filter((id) => id.length <= 512);

const anyAddress: fc.Arbitrary<Address> = fc.record({
  channel: fc.constantFrom("web", "slack", "x-1"),
  account: anyId,
  conversation: anyId,
  thread: fc.option(anyId),
});

/** Texts of which some are addresses, some nearly, and some nothing. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom(":", "/", "%", "2", "F", "f", "*", " ", "a", "é", "%2F", "%ed%a0"))
    .map((l) => l.join("")),
  anyAddress.map((a) => formatAddress(a)),
  anyAddress.map((a) => formatAddress(a).replace("%", "%25")),
  fc.tuple(anyId, anyId).map(([a, b]) => `web:${a}/${b}`),
  fc.array(fc.nat(0xffff)).map((units) => `web:a/${String.fromCharCode(...units)}`),
);

function refusal(action: () => unknown): WaybillError {
  try {
    action();
  } catch (error) {
    if (error instanceof WaybillError) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("the text of an address", () => {
  test.each([
    ["slack:T1/C-oncall", ["slack", "T1", "C-oncall", null]],
    ["web:main/general/t-1", ["web", "main", "general", "t-1"]],
    ["irc:libera/#node.js", ["irc", "libera", "#node.js", null]],
    ["web:main/점심 모임".replace(" ", "%20"), ["web", "main", "점심 모임", null]],
    ["slack:T1/C1/1700000000.000100", ["slack", "T1", "C1", "1700000000.000100"]],
    ["x-1:a:b@c/d+e=f!g,h/i~j", ["x-1", "a:b@c", "d+e=f!g,h", "i~j"]],
    ["web:a%2Fb/c%25d/e%00%0A%E2%80%AE%2A", ["web", "a/b", "c%d", "e\0\n\u202e*"]],
    ["web:main/👩%E2%80%8D🚀", ["web", "main", "👩\u200d🚀", null]],
  ])("%s", (text, [channel, account, conversation, thread]) => {
    const address = { channel, account, conversation, thread } as Address;
    expect(parseAddress(text)).toEqual(address);
    expect(formatAddress(address)).toBe(text);
  });

  test("any platform ids come back as they were", () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
      { numRuns: 2000 },
    );
  });

  test("two addresses have one text only if they are the same", () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, (a, b) => {
        expect(formatAddress(a) === formatAddress(b)).toBe(sameAddress(a, b));
      }),
      { numRuns: 2000 },
    );
  });

  test("it is one line without white space, control characters or changes of direction", () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        expect(formatAddress(address)).not.toMatch(/[\s\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      }),
      { numRuns: 2000 },
    );
  });

  test("a text that is read as an address is the text that is written", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const address = tryParseAddress(text);
        fc.pre(address !== null);
        expect(formatAddress(address)).toBe(text);
      }),
      { numRuns: 1000, maxSkipsPerRun: 1000 },
    );
  });

  test("any other text is refused with one code, in one harmless line with an example", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(tryParseAddress(text) === null);
        const { code, message } = refusal(() => parseAddress(text));
        expect(code).toBe("invalid_address");
        expect(message).toContain("slack:T1/C-oncall");
        expect(message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u);
      }),
      { numRuns: 3000, maxSkipsPerRun: 1000 },
    );
  });
});

describe("what is no address", () => {
  test.each([
    ["", "channel"],
    ["general", "channel"],
    [":T1/C1", "channel"],
    ["Slack:T1/C1", "channel"],
    ["1web:T1/C1", "channel"],
    [`${"a".repeat(33)}:T1/C1`, "channel"],
    ["slack:", "conversation"],
    ["slack:T1", "conversation"],
    ["slack:/C1", "account"],
    ["slack:T1/", "conversation"],
    ["slack:T1/C1/", "thread"],
    ["slack:T1/C1/t/x", "thread"],
    ["slack:T1/C1/t/x/y", "thread"],
    ["slack:T1/100%", "conversation"],
    ["slack:T1/%zz", "conversation"],
    ["slack:T1/%C0%80", "conversation"],
    ["slack:T1/%ED%A0%80", "conversation"],
    ["slack:T1/\ud800", "address"],
    [`slack:T1/${"a".repeat(513)}`, "conversation"],
    [`slack:T1/${"a".repeat(20_000_000)}`, "address"],
  ])("%.40j: the %s", (text, field) => {
    const error = refusal(() => parseAddress(text));
    expect(error).toMatchObject({ code: "invalid_address", details: { field } });
    expect(error.message.length).toBeLessThan(1000);
    expect(tryParseAddress(text)).toBeNull();
  });

  test.each([
    ["slack:T1/a b", "slack:T1/a%20b"],
    ["slack:T1/%41", "slack:T1/A"],
    ["slack:T1/a%2fb", "slack:T1/a%2Fb"],
    ["slack:T1/%ED%95%9C", "slack:T1/한"],
    ["slack:T1/*", "slack:T1/%2A"],
    ["slack:T1/a\0b", "slack:T1/a%00b"],
    ["slack:T1/a\u2028b", "slack:T1/a%E2%80%A8b"],
  ])("%j is refused, with %s to write instead", (text, canonical) => {
    const error = refusal(() => parseAddress(text));
    expect(error).toMatchObject({ code: "invalid_address", details: { canonical } });
    expect(error.message).toContain(canonical);
    expect(formatAddress(parseAddress(canonical))).toBe(canonical);
  });

  test.each([
    [{ channel: "Web" }, "channel"],
    [{ account: "" }, "account"],
    [{ conversation: "a".repeat(513) }, "conversation"],
    [{ conversation: "a\udc00" }, "conversation"],
    [{ thread: "" }, "thread"],
  ])("%j is not written", (change, field) => {
    const address = {
      channel: "web",
      account: "main",
      conversation: "general",
      thread: null,
      ...change,
    };
    expect(refusal(() => formatAddress(address))).toMatchObject({
      code: "invalid_address",
      details: { field },
    });
  });

  test("512 characters are allowed, however long they are when encoded", () => {
    const address = {
      channel: "web",
      account: "\u3000".repeat(512),
      conversation: "/".repeat(512),
      thread: null,
    };
    expect(parseAddress(formatAddress(address))).toEqual(address);
    const threads = inThread({ ...address, conversation: "\ufeff".repeat(512) }, "\u2028".repeat(512));
    expect(parseAddress(formatAddress(threads))).toEqual(threads);
  });
});

describe("conversations and threads", () => {
  const root = parseAddress("web:main/general");
  const thread = parseAddress("web:main/general/t-1");
  const sibling = parseAddress("web:main/general/t-2");
  const elsewhere = parseAddress("web:main/random/t-1");

  test("the parent of a thread is its conversation, and that of a conversation itself", () => {
    expect(parentOf(thread)).toEqual(root);
    expect(parentOf(root)).toEqual(root);
    expect(inThread(sibling, "t-1")).toEqual(thread);
  });

  test("a place is within itself and a thread is within its conversation; nothing else is", () => {
    const places = [root, thread, sibling, elsewhere];
    const pairs = places.flatMap((inner) =>
      places.filter((outer) => isWithin(inner, outer)).map((o) => [inner, o]),
    );
    expect(pairs).toEqual([
      [root, root],
      [thread, root],
      [thread, thread],
      [sibling, root],
      [sibling, sibling],
      [elsewhere, elsewhere],
    ]);
  });

  test("every field counts", () => {
    const change: Address[] = [
      { ...thread, channel: "slack" },
      { ...thread, account: "other" },
      { ...thread, conversation: "random" },
    ];
    for (const other of change) {
      expect(sameConversation(thread, other)).toBe(false);
      expect(sameAddress(thread, other)).toBe(false);
      expect(isWithin(other, root)).toBe(false);
    }
    expect(sameConversation(thread, sibling)).toBe(true);
    expect(sameAddress(thread, sibling)).toBe(false);
  });
});
