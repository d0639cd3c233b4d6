import { describe, expect, test } from "vitest";
import { parseModelSpec, resolveModel } from "./resolve-model.ts";

describe("provider/model", () => {
  test("is split at its first slash", () => {
    expect(parseModelSpec("openai/gpt-5")).toEqual({ provider: "openai", model: "gpt-5" });
    expect(parseModelSpec("openrouter/meta/llama:free")).toEqual({
      provider: "openrouter",
      model: "meta/llama:free",
    });
  });

  test.each(["", "gpt-5", "/gpt-5", "openai/", "open ai/x", "openai/a b", "a/\u0000"])(
    "%j is refused",
    (spec) => {
      expect(() => parseModelSpec(spec)).toThrow(
        expect.objectContaining({
          code: "config_invalid",
          message: expect.stringContaining("provider/model"),
        }),
      );
    },
  );
});

describe("with the address of a server", () => {
  test("any provider's name will do, and no key is needed", async () => {
    const model = await resolveModel("local/llama", { baseUrl: "http://127.0.0.1:1/v1", env: {} });
    expect(model).toMatchObject({ provider: "local.chat", modelId: "llama" });
  });

  test.each(["127.0.0.1:1234", "ftp://x/v1", "nonsense"])("the address %j is refused", async (baseUrl) => {
    await expect(resolveModel("local/llama", { baseUrl, env: {} })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("WAYBILL_MODEL_URL"),
    });
  });

  test("a password in it is refused without being repeated", async () => {
    const refused = resolveModel("local/llama", { baseUrl: "http://u:hunter2@host/v1", env: {} });
    await expect(refused).rejects.toMatchObject({ code: "config_invalid" });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining("hunter2") });
  });
});

describe("with a provider's own package", () => {
  const made: unknown[] = [];
  const load = async (name: string) => ({
    [name === "@ai-sdk/openai" ? "createOpenAI" : "createGoogleGenerativeAI"]:
      (settings: unknown) => (id: string) => {
        made.push({ name, settings, id });
        return { provider: "x", modelId: id };
      },
  });

  test("the key comes from its usual variable, or is given", async () => {
    await resolveModel("openai/gpt-5", { env: { OPENAI_API_KEY: "k1" }, load });
    await resolveModel("openai/gpt-5", { env: { OPENAI_API_KEY: "k1" }, apiKey: "k2", load });
    await resolveModel("google/gemini", { env: { GOOGLE_GENERATIVE_AI_API_KEY: "k3" }, load });
    expect(made).toEqual([
      { name: "@ai-sdk/openai", settings: { apiKey: "k1" }, id: "gpt-5" },
      { name: "@ai-sdk/openai", settings: { apiKey: "k2" }, id: "gpt-5" },
      { name: "@ai-sdk/google", settings: { apiKey: "k3" }, id: "gemini" },
    ]);
  });

  test("a missing key is named", async () => {
    await expect(resolveModel("openai/gpt-5", { env: {}, load })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("set OPENAI_API_KEY"),
      details: { field: "OPENAI_API_KEY" },
    });
  });

  test("a package that is not installed: the command is told", async () => {
    await expect(resolveModel("anthropic/claude", { env: { ANTHROPIC_API_KEY: "k" } })).rejects.toMatchObject(
      {
        code: "missing_package",
        details: { package: "@ai-sdk/anthropic", command: "npm install @ai-sdk/anthropic" },
      },
    );
  });

  test("a package of a release without the maker is told apart from a missing one", async () => {
    const old = resolveModel("openai/gpt-5", { env: { OPENAI_API_KEY: "k" }, load: async () => ({}) });
    await expect(old).rejects.toMatchObject({
      code: "missing_package",
      message: expect.stringContaining("update it"),
    });
  });

  test("a provider that is not known: the nearest is suggested, and the other way is told", async () => {
    await expect(resolveModel("opnai/gpt-5", { env: {} })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(/Did you mean "openai"\?.*WAYBILL_MODEL_URL/),
    });
  });
});
