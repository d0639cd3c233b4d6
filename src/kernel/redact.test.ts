import { expect, test } from "vitest";
import { redact } from "./redact.ts";

test("what looks like a secret is taken out, the rest stays", () => {
  const cases: [string, string][] = [
    ["401 for key sk-abcdef1234567890", "401 for key [secret]"],
    ["xoxb-123-456-abcdefgh was revoked", "[secret] was revoked"],
    ["Authorization: Bearer abc.def.ghi123", "Authorization: Bearer [secret]"],
    ["postgres://me:hunter22@db/prod is down", "postgres://me:[secret]@db/prod is down"],
    ["token=s3cr3tvalue&x=1", "token=[secret]&x=1"],
    ["the file notes.txt is missing", "the file notes.txt is missing"],
  ];
  for (const [given, wanted] of cases) expect(redact(given)).toBe(wanted);
});

test("a long text is cut", () => {
  expect(redact("a".repeat(2_000), 100)).toBe(`${"a".repeat(100)}…`);
});
