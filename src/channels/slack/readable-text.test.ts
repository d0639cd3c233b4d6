import { expect, test } from "vitest";
import { readableText } from "./readable-text.ts";

const self = { userId: "UBOT", botId: null };
const names = {
  person: (id: string) => Promise.resolve(id === "U1" ? "Ann" : null),
  conversation: (id: string) => Promise.resolve(id === "C1" ? "general" : null),
};

test.each([
  ["plain", "plain"],
  ["<@UBOT> how far?", "how far?"],
  ["<@UBOT>: how far?", "how far?"],
  ["hey <@UBOT>, how far?", "hey, how far?"],
  ["how far, <@UBOT>?", "how far?"],
  ["<@UBOT>", ""],
  ["<@UBOT|waybill> line one\n  line two", "line one\n  line two"],
  ["ask <@U1> or <@U9> or <@U8|Bo>", "ask @Ann or @U9 or @Bo"],
  ["in <#C1> or <#C9> or <#C8|ops>", "in #general or #C9 or #ops"],
  ["<!here> <!channel> <!subteam^S1|@team> <!subteam^S2>", "@here @channel @team @S2"],
  ["<!date^1392734382^{date}|Feb 18, 2014>", "Feb 18, 2014"],
  ["<https://a.example/x?a=1&amp;b=2>", "https://a.example/x?a=1&b=2"],
  ["<https://a.example|the page>", "the page (https://a.example)"],
  ["<http://a.example|a.example>", "http://a.example"],
  ["<mailto:a@b.example|a@b.example>", "a@b.example"],
  ["a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"],
  ["&lt;@UBOT&gt; stays", "<@UBOT> stays"],
  ["한국어 <@U1> 😀", "한국어 @Ann 😀"],
])("%j is read as %j", async (text, said) => {
  expect(await readableText(text, self, names)).toBe(said);
});
