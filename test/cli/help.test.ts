import { expect, test } from "vitest";
import { folder, problem, run } from "./process.ts";
import { version } from "../../src/gateway/version.ts";

const commands = [
  "start",
  "dev",
  "init",
  "chat",
  "doctor",
  "config check",
  "runs list",
  "runs show",
  "runs watch",
  "runs cancel",
  "runs retry",
  "deliveries list",
  "deliveries show",
  "deliveries retry",
  "denials list",
  "schedules list",
  "schedules add",
  "slots clear",
  "slack manifest",
  "send",
  "why",
];

test.each(commands)("waybill %s --help describes it, with an example and --json", async (command) => {
  const { code, out, err } = await run([...command.split(" "), "--help"], { cwd: folder() });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain(`Usage: waybill ${command}`);
  expect(out).toMatch(/^Examples?:\n {2}\S*(waybill|npm|echo|WAYBILL)/m);
  expect(out).toContain("--json");
  expect(out.split("\n").filter((line) => line.length > 100)).toEqual([]);
});

test("waybill --help lists the commands, --version prints the version", async () => {
  const cwd = folder();
  const { out } = await run(["--help"], { cwd });
  for (const command of commands) expect(out).toMatch(new RegExp(`^  ${command.split(" ")[0]}\\b`, "m"));
  expect(await run(["--version"], { cwd })).toMatchObject({ code: 0, out: `${version}\n` });
});

test("what is no command is refused with the nearest; with --json as JSON", async () => {
  const cwd = folder();
  const { code, err, out } = await run(["strat"], { cwd });
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("Did you mean start?");
  const json = await run(["runs", "show", "--json"], { cwd });
  expect([json.code, problem(json).code]).toEqual([2, "invalid_request"]);
});
