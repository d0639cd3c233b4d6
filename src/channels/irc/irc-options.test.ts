import { expect, test } from "vitest";
import { manualClock } from "../../kernel/clock.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { irc, type IrcOptions } from "./index.ts";
import { readIrcOptions } from "./irc-options.ts";
import { Pace } from "./pace.ts";

const allow = { users: "*", channels: ["#Team"], dms: false } as const;

function fieldOf(options: unknown): unknown {
  try {
    irc(options as IrcOptions);
  } catch (thrown) {
    if (thrown instanceof WaybillError && thrown.code === "config_invalid") return thrown.details["field"];
    throw thrown;
  }
  return null;
}

test("settings have defaults, and names on IRC are the same in either case", () => {
  expect(readIrcOptions({ host: "irc.example.org", nick: "bot", allow })).toMatchObject({
    port: 6_697,
    tls: true,
    account: "irc.example.org",
    listen: "mentions",
    allow: { channels: ["#team"] },
  });
  expect(readIrcOptions({ host: "h", nick: "bot", tls: false, allow }).port).toBe(6_667);
});

test.each([
  ["irc.host", { nick: "b", allow }],
  ["irc.nick", { host: "h", nick: "a b", allow }],
  ["irc.nick", { host: "h", nick: "a\r\nQUIT", allow }],
  ["irc.allow", { host: "h", nick: "b" }],
  ["irc.allow.users", { host: "h", nick: "b", allow: { ...allow, users: "all" } }],
  ["irc.allow.channels.0", { host: "h", nick: "b", allow: { ...allow, channels: ["#a,#b"] } }],
  ["irc.port", { host: "h", nick: "b", allow, port: 0 }],
  ["irc.colour", { host: "h", nick: "b", allow, colour: "red" }],
])("a bad setting is named: %s", (field, options) => {
  expect(fieldOf(options)).toBe(field);
});

test("lines go in a burst, and then one by one, in order", async () => {
  const clock = manualClock(0);
  const pace = new Pace(clock, { burst: 2, everyMs: 100 });
  const gone: number[] = [];
  const all = [0, 1, 2, 3].map((n) => pace.next().then(() => gone.push(n)));
  await Promise.all(all.slice(0, 2));
  expect(gone).toEqual([0, 1]);
  clock.advance(100);
  await all[2];
  clock.advance(100);
  await all[3];
  expect(gone).toEqual([0, 1, 2, 3]);
});
