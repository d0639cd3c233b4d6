import type { LanguageModel } from "ai";
import { WaybillError } from "../../kernel/errors.ts";
import { didYouMean, invalid } from "../agent-options.ts";

/** Where a model is found, and with which key. */
export interface ModelSource {
  /** Base URL of an OpenAI-compatible server, with its version (`http://127.0.0.1:1234/v1`). */
  baseUrl?: string | undefined;
  /** The provider's key. Default: the provider's usual environment variable. */
  apiKey?: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  /** Loads an optional package by its name; tests give their own. */
  load?: (name: string) => Promise<unknown>;
}

/** Providers of the AI SDK that are optional packages: the maker's name in the package, and where its key is by custom. */
const providers: Readonly<Record<string, { makers: readonly string[]; key: string }>> = {
  openai: { makers: ["createOpenAI"], key: "OPENAI_API_KEY" },
  anthropic: { makers: ["createAnthropic"], key: "ANTHROPIC_API_KEY" },
  google: { makers: ["createGoogle", "createGoogleGenerativeAI"], key: "GOOGLE_GENERATIVE_AI_API_KEY" },
  mistral: { makers: ["createMistral"], key: "MISTRAL_API_KEY" },
  groq: { makers: ["createGroq"], key: "GROQ_API_KEY" },
  xai: { makers: ["createXai"], key: "XAI_API_KEY" },
  deepseek: { makers: ["createDeepSeek"], key: "DEEPSEEK_API_KEY" },
  cohere: { makers: ["createCohere"], key: "COHERE_API_KEY" },
};

type ModelObject = Exclude<LanguageModel, string>;

/**
 * Splits `provider/model`; the model's own name may hold more slashes.
 * @throws WaybillError `config_invalid`.
 */
export function parseModelSpec(spec: string): { provider: string; model: string } {
  const slash = spec.indexOf("/");
  const provider = spec.slice(0, Math.max(slash, 0));
  const model = spec.slice(slash + 1);
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(provider) && /^[^\s\p{Cc}]+$/u.test(model))
    return { provider, model };
  const example = "such as openai/gpt-5 or anthropic/claude-sonnet-4-5";
  throw invalid(
    `The model "${spec.slice(0, 80)}" is not of the form provider/model, ${example} (WAYBILL_MODEL).`,
    {
      field: "model",
    },
  );
}

/**
 * The language model that `provider/model` names: of the OpenAI-compatible server at `baseUrl` if given, else of the
 * provider's own AI SDK package. No request is made.
 * @throws WaybillError `config_invalid` (malformed, unknown provider, no key), `missing_package` with the command.
 */
export async function resolveModel(spec: string, source: ModelSource = {}): Promise<ModelObject> {
  const { provider, model } = parseModelSpec(spec);
  const env = source.env ?? process.env;
  const keyName = providers[provider]?.key ?? `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
  const apiKey = source.apiKey || env[keyName] || undefined;
  if (source.baseUrl) return compatibleModel(provider, model, checkedUrl(source.baseUrl), apiKey);
  const known = providers[provider];
  if (!known) {
    throw invalid(
      `There is no model provider "${provider}". ${didYouMean(provider, Object.keys(providers))} For any other ` +
        "OpenAI-compatible server give its address (WAYBILL_MODEL_URL).",
      { field: "model", known: Object.keys(providers) },
    );
  }
  const make = makerOf(`@ai-sdk/${provider}`, known.makers, await loadPackage(`@ai-sdk/${provider}`, source));
  if (!apiKey) throw invalid(`The model ${spec} needs a key: set ${keyName}.`, { field: keyName });
  return make({ apiKey })(model);
}

async function compatibleModel(provider: string, model: string, baseURL: string, apiKey: string | undefined) {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ name: provider, baseURL, apiKey, includeUsage: true })(model);
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const rule =
    url === null || !/^https?:$/.test(url.protocol)
      ? "must be an http or https address, such as http://127.0.0.1:1234/v1"
      : url.username !== "" || url.password !== ""
        ? "must not hold a name or password; give the key on its own"
        : null;
  if (rule === null) return text;
  throw invalid(`The model's address (WAYBILL_MODEL_URL) ${rule}.`, { field: "WAYBILL_MODEL_URL" });
}

async function loadPackage(name: string, source: ModelSource): Promise<unknown> {
  const load = source.load ?? ((wanted: string) => import(wanted) as Promise<unknown>);
  try {
    return await load(name);
  } catch (cause) {
    if ((cause as { code?: unknown } | null)?.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const command = `npm install ${name}`;
    throw new WaybillError("missing_package", `This model needs the package ${name}: ${command}`, {
      package: name,
      command,
    });
  }
}

type Maker = (settings: { apiKey: string }) => (model: string) => ModelObject;

function makerOf(name: string, makers: readonly string[], loaded: unknown): Maker {
  const exported = loaded as Record<string, unknown>;
  const maker = makers.map((key) => exported[key]).find((value) => typeof value === "function");
  if (maker) return maker as Maker;
  throw new WaybillError(
    "missing_package",
    `The package ${name} is of a release that has no ${makers[0]}; update it.`,
    {
      package: name,
      command: `npm install ${name}@latest`,
    },
  );
}
