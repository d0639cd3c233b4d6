import { describe, expect, test } from "vitest";
import { isLoopback, readEnvironment, refuseOpenDoor, type ServerFlags } from "./environment.ts";

function read(env: Record<string, string> = {}, flags: ServerFlags = {}) {
  return readEnvironment(env, flags, "/work-folder");
}

/** The fields that are refused. */
function refused(env: Record<string, string>, flags: ServerFlags = {}): string[] {
  try {
    read(env, flags);
    return [];
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "config_invalid" });
    const { details } = thrown as { details: { issues: { field: string }[] } };
    return details.issues.map(({ field }) => field);
  }
}

describe("readEnvironment", () => {
  test("without anything: loopback, the usual port, a folder in the working folder", () => {
    expect(read()).toEqual({
      port: 8787,
      host: "127.0.0.1",
      loopback: true,
      dataDir: "/work-folder/.waybill",
      databaseUrl: undefined,
      redisUrl: undefined,
      token: undefined,
      key: undefined,
      model: undefined,
      modelUrl: undefined,
      configFile: undefined,
      logLevel: "info",
      graceMs: undefined,
      hosts: [],
      origins: [],
    });
  });

  test("a flag wins over a variable; an empty variable is one that is not set", () => {
    expect(read({ WAYBILL_PORT: "1" }, { port: "2" }).port).toBe(2);
    expect(read({ WAYBILL_PORT: "", WAYBILL_TOKEN: "" })).toMatchObject({ port: 8787, token: undefined });
  });

  test("files and folders are of the working folder, lists have commas", () => {
    const env = { WAYBILL_DATA: "d", WAYBILL_CONFIG: "/etc/w.ts", WAYBILL_HOSTS: "a.example, b.example," };
    expect(read(env)).toMatchObject({
      dataDir: "/work-folder/d",
      configFile: "/etc/w.ts",
      hosts: ["a.example", "b.example"],
    });
  });

  test.each([
    ["WAYBILL_PORT", ["-1", "65536", "80a", "1.5", " 1", "999999"]],
    ["WAYBILL_HOST", ["a b", "http://x", "a/b"]],
    ["WAYBILL_TOKEN", ["short", "with a space in it", "umlaut-ä-umlaut", "line\nbreak-in-it"]],
    ["WAYBILL_MODEL", ["gpt", "/x", "a/", "a b/c"]],
    ["WAYBILL_MODEL_URL", ["127.0.0.1:1", "ftp://x", "x"]],
    ["WAYBILL_REDIS_URL", ["http://x", "6379"]],
    ["WAYBILL_LOG", ["loud", "INFO"]],
    ["WAYBILL_GRACE", ["10s", "-1", "1e3"]],
  ])("%s is refused where it cannot be: %j", (name, values) => {
    for (const value of values) expect([value, refused({ [name]: value })]).toEqual([value, [name]]);
  });

  test("all that is wrong is said at once, by the name under which it was given, and no value", () => {
    const env = { WAYBILL_TOKEN: "secret!", WAYBILL_LOG: "loud" };
    expect(refused(env, { port: "x", data: "" })).toEqual([
      "--port",
      "--data",
      "WAYBILL_TOKEN",
      "WAYBILL_LOG",
    ]);
    expect(() => read(env)).not.toThrow("secret!");
  });
});

test.each([
  ["127.0.0.1", true],
  ["127.8.9.10", true],
  ["localhost", true],
  ["LOCALHOST", true],
  ["::1", true],
  ["[::1]", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.0.0.1.example.com", false],
  ["localhost.example.com", false],
  ["10.0.0.1", false],
  ["::ffff:127.0.0.1", false],
])("%s is loopback: %s", (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback);
});

test("an open door needs a token", () => {
  expect(() => refuseOpenDoor({ host: "0.0.0.0", loopback: false, token: undefined })).toThrow(
    expect.objectContaining({ code: "token_required" }) as Error,
  );
  expect(() => refuseOpenDoor({ host: "0.0.0.0", loopback: false, token: "x".repeat(20) })).not.toThrow();
  expect(() => refuseOpenDoor({ host: "::1", loopback: true, token: undefined })).not.toThrow();
});
