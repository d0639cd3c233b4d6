import fc from "fast-check";
import { expect, test } from "vitest";
import { asWaybillError } from "../kernel/errors.ts";
import { echoSigner } from "./echo.ts";

const key = Buffer.alloc(32, 1);
const signer = echoSigner(key, "default");
const signed = signer.sign("web:main/dm", "turn_1");

function codeOf(text: string, by = signer): string {
  try {
    by.read(text);
    return "ok";
  } catch (thrown) {
    return asWaybillError(thrown).code;
  }
}

test("an echo is one line, and comes back as what was signed", () => {
  expect(signed).toMatch(/^web:main\/dm;turn=turn_1;sig=[A-Za-z0-9_-]{43}$/);
  expect(signer.read(signed)).toEqual({ address: "web:main/dm", turn: "turn_1" });
});

test.each([` ${signed}\n`, `reply_to=${signed}`, `"${signed}"`, "`" + signed + "`"])(
  "what models put around it is not part of it: %s",
  (text) => {
    expect(signer.read(text).turn).toBe("turn_1");
  },
);

test.each([
  "",
  "web:main/dm",
  "#general",
  "the conversation in which I was asked",
  "web:main/dm;turn=turn_1",
  "web:main/dm;turn=turn_1;sig=",
  `${signed} and also #general`,
  `${signed}\n${signed}`,
])("what is no echo is said to be none: %j", (text) => {
  expect(codeOf(text)).toBe("invalid_echo");
});

test("another gateway's echo, or another tenant's, is not ours", () => {
  expect(codeOf(signed, echoSigner(Buffer.alloc(32, 2), "default"))).toBe("forged_echo");
  expect(codeOf(signed, echoSigner(key, "other"))).toBe("forged_echo");
});

test("whatever is changed in an echo, it is refused", () => {
  fc.assert(
    fc.property(fc.nat(signed.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, instead) => {
      const changed = signed.slice(0, at) + instead + signed.slice(at + 1);
      // What is trimmed off is no part of it; the last character of a signature has two bits that say nothing.
      fc.pre(changed !== signed && at > 0 && at < signed.length - 1);
      expect(["invalid_echo", "forged_echo"]).toContain(codeOf(changed));
    }),
  );
});

test("any address and turn round-trips", () => {
  const part = fc.stringMatching(/^[A-Za-z0-9._%-]{1,20}$/);
  fc.assert(
    fc.property(part, part, (conversation, turn) => {
      fc.pre(!/[.%]/.test(turn));
      const address = `web:main/${conversation};turn=x;sig=y`;
      expect(signer.read(signer.sign(address, turn))).toEqual({ address, turn });
    }),
  );
});
