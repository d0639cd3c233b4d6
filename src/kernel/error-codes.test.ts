import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorCodes } from "./error-codes.ts";

test("docs/errors.md explains every code once, with its status, and no other", () => {
  const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| *`(\w+)` *\| *(\d{3}) *\| *(\S.*?) *\| *(\S.*?) *\|$/gm)];
  const explained = rows.map((row) => `${row[1]} ${row[2]}`);
  const codes = Object.entries(errorCodes).map(([code, { status }]) => `${code} ${status}`);
  expect(explained.toSorted()).toEqual(codes.toSorted());
});

test("exit codes are those of the list on docs/errors.md", () => {
  const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  const listed = [
    ...(/the exit code tells the family:([^.]*)\./.exec(page)?.[1] ?? "").matchAll(/\b(\d)\b/g),
  ];
  const used = [...new Set(Object.values(errorCodes).map(({ exit }) => exit))];
  expect(used.toSorted((a, b) => a - b)).toEqual(listed.map((match) => Number(match[1])));
});
