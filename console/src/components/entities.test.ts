import { expect, test } from "vitest";
import { decodeEntities } from "./entities.ts";

test.each([
  ["a &lt;b&gt; &amp; c", "a <b> & c"],
  ["&#60;&#x3C;&#X3c;", "<<<"],
  ["&amp;lt;", "&lt;"],
  ["&#0; &#xD800; &#x110000;", "\uFFFD \uFFFD \uFFFD"],
  ["AT&T &; &x y", "AT&T &; &x y"],
])("%j means %j", (text, meant) => {
  expect(decodeEntities(text)).toBe(meant);
});
