import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { folder, problem, run, say, serve, streamEnded } from "./process.ts";

function read(cwd: string, file: string): string {
  return readFileSync(path.join(cwd, file), "utf8");
}

describe("waybill init", () => {
  test("in an empty folder makes what is needed, and it works", async () => {
    const cwd = folder();
    const ended = await run(["init", "--yes", "--json"], { cwd });
    expect(ended).toMatchObject({ code: 0, err: "" });
    expect(readdirSync(cwd).toSorted()).toEqual([
      ".env.example",
      ".gitignore",
      "package.json",
      "waybill.config.ts",
    ]);
    expect(JSON.parse(read(cwd, "package.json"))).toMatchObject({ type: "module", private: true });
    expect(read(cwd, ".gitignore").split("\n")).toEqual(["node_modules/", ".waybill/", ".env", ""]);
    expect(JSON.parse((await run(["config", "check", "--json"], { cwd })).out)).toMatchObject({ ok: true });
    const { url } = await serve(cwd);
    const { stream } = await say(url, { conversation: "a", text: "first words" });
    expect(await streamEnded(url, stream)).toContain("first words");
  });

  test("overwrites nothing, and adds what is missing", async () => {
    const files = {
      "waybill.config.mjs": "export default 1;",
      ".env.example": "MINE=1",
      ".gitignore": "/node_modules\n.env",
      "package.json": '{\n\t"name": "mine",\n\t"version": "1.2.3"\n}\n',
    };
    const cwd = folder(files);
    const ended = await run(["init", "--yes", "--json"], { cwd });
    expect((JSON.parse(ended.out) as { files: { file: string; what: string }[] }).files).toEqual([
      { file: "waybill.config.mjs", what: "kept" },
      { file: ".env.example", what: "kept" },
      { file: ".gitignore", what: "changed" },
      { file: "package.json", what: "changed" },
    ]);
    expect(read(cwd, "waybill.config.mjs")).toBe(files["waybill.config.mjs"]);
    expect(read(cwd, ".env.example")).toBe("MINE=1");
    expect(read(cwd, ".gitignore")).toBe("/node_modules\n.env\n.waybill/\n");
    expect(read(cwd, "package.json")).toBe(
      '{\n\t"name": "mine",\n\t"version": "1.2.3",\n\t"type": "module"\n}\n',
    );
    const before = readdirSync(cwd);
    const again = await run(["init", "--yes", "--json"], { cwd });
    expect(again.out).not.toContain("written");
    expect(readdirSync(cwd)).toEqual(before);
  });

  test("in a CommonJS package writes .mts, and leaves the package as it is", async () => {
    const text = '{ "type": "commonjs" }';
    const cwd = folder({ "package.json": text });
    await run(["init", "--yes"], { cwd });
    expect(read(cwd, "package.json")).toBe(text);
    expect(readdirSync(cwd)).toContain("waybill.config.mts");
    expect((await run(["config", "check"], { cwd })).code).toBe(0);
  });

  test("writes settings for a model where that is asked for", async () => {
    const cwd = folder();
    await run(["init", "--template", "model"], { cwd });
    const report = JSON.parse((await run(["config", "check", "--json"], { cwd })).out) as { agents: unknown };
    expect(report.agents).toEqual([expect.objectContaining({ kind: "model", models: ["openai/gpt-5"] })]);
  });

  test("refuses a template that it does not have, and a package.json that is none; nothing is written", async () => {
    const cwd = folder({ "package.json": "[1]" });
    const wrong = await run(["init", "--template", "poem", "--json"], { cwd });
    expect([wrong.code, problem(wrong).code]).toEqual([2, "invalid_request"]);
    const broken = await run(["init", "--json"], { cwd });
    expect([broken.code, problem(broken).code]).toEqual([5, "config_invalid"]);
    expect(readdirSync(cwd)).toEqual(["package.json"]);
  });
});
