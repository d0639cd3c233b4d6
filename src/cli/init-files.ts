import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { configNames } from "../gateway/load-config.ts";
import { WaybillError } from "../kernel/errors.ts";

const functionConfig = `import { agent, defineConfig } from "waybill";

export default defineConfig({
  agents: {
    assistant: agent.fn(async function* (ctx) {
      yield \`You said: \${ctx.text}\`;
    }),
  },
});
`;

const modelConfig = `import { agent, defineConfig } from "waybill";

export default defineConfig({
  agents: {
    assistant: agent.model({
      // provider/model. With a baseUrl: any OpenAI-compatible server; without: npm install @ai-sdk/<provider>.
      model: process.env.WAYBILL_MODEL ?? "openai/gpt-5",
      ...(process.env.WAYBILL_MODEL_URL ? { baseUrl: process.env.WAYBILL_MODEL_URL } : {}),
      instructions: "You are a helpful assistant in a team's chat. Answer briefly.",
    }),
  },
});
`;

/** What a new settings file may begin with. */
export const templates = {
  function: { hint: "A function of mine (it repeats what was said, to begin with)", config: functionConfig },
  model: { hint: "A language model (provider/model and its key in .env)", config: modelConfig },
} as const;
export type Template = keyof typeof templates;

const envExample = `# Copy to .env, which waybill reads; what is set in the environment wins.
# WAYBILL_PORT=8787
# WAYBILL_HOST=127.0.0.1
# WAYBILL_DATA=./.waybill
# WAYBILL_DATABASE_URL=postgres://localhost/waybill
# Needed to listen beyond this machine. Make one with: openssl rand -hex 24
# WAYBILL_TOKEN=
# WAYBILL_MODEL=openai/gpt-5
# WAYBILL_MODEL_URL=http://127.0.0.1:1234/v1
# OPENAI_API_KEY=
`;

const ignored = ["node_modules/", ".waybill/", ".env"];

export interface InitStep {
  file: string;
  what: "written" | "changed" | "kept";
  /** The whole new text; null where nothing is written. */
  text: string | null;
}

export interface InitPlan {
  steps: InitStep[];
}

/**
 * What would be written into a folder. A file that is there is kept; only .gitignore gains lines, and a package.json
 * without a "type" gains that field.
 * @throws WaybillError `config_invalid` if package.json is no JSON object
 */
export function planInit(cwd: string, template: Template): InitPlan {
  const manifest = planManifest(cwd);
  const present = configNames.find((name) => existsSync(join(cwd, name)));
  // In a CommonJS package only .mts is an ES module for editors and type checkers too.
  const name = present ?? (manifest.isCommonJs ? "waybill.config.mts" : "waybill.config.ts");
  return {
    steps: [
      planNew(cwd, name, templates[template].config),
      planNew(cwd, ".env.example", envExample),
      planIgnore(cwd),
      manifest.step,
    ],
  };
}

/**
 * Writes what was planned.
 * @throws WaybillError `data_folder_unusable` if the folder cannot be written
 */
export function applyInit(cwd: string, plan: InitPlan): void {
  for (const { file, what, text } of plan.steps) {
    if (text === null) continue;
    try {
      // "wx": what appeared in the meantime is not overwritten either.
      writeFileSync(join(cwd, file), text, { flag: what === "written" ? "wx" : "w" });
    } catch (cause) {
      throw new WaybillError(
        "data_folder_unusable",
        `${join(cwd, file)} cannot be written (${(cause as Error).message}).`,
        { file },
        cause,
      );
    }
  }
}

function planNew(cwd: string, file: string, text: string): InitStep {
  return existsSync(join(cwd, file)) ? { file, what: "kept", text: null } : { file, what: "written", text };
}

function planIgnore(cwd: string): InitStep {
  const file = ".gitignore";
  if (!existsSync(join(cwd, file))) return { file, what: "written", text: `${ignored.join("\n")}\n` };
  const text = readFileSync(join(cwd, file), "utf8");
  const there = new Set(text.split(/\r?\n/).map((line) => line.trim().replace(/^\/|\/$/g, "")));
  const missing = ignored.filter((line) => !there.has(line.replace(/\/$/, "")));
  if (missing.length === 0) return { file, what: "kept", text: null };
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return { file, what: "changed", text: `${text}${gap}${missing.join("\n")}\n` };
}

function planManifest(cwd: string): { step: InitStep; isCommonJs: boolean } {
  const file = "package.json";
  const path = join(cwd, file);
  if (!existsSync(path)) {
    const fresh = {
      name:
        basename(cwd)
          .toLowerCase()
          .replaceAll(/[^a-z0-9-]+/g, "-")
          .replaceAll(/^-+|-+$/g, "") || "agents",
      private: true,
      type: "module",
      scripts: { dev: "waybill dev", start: "waybill start" },
    };
    return {
      step: { file, what: "written", text: `${JSON.stringify(fresh, null, 2)}\n` },
      isCommonJs: false,
    };
  }
  const text = readFileSync(path, "utf8");
  const manifest = parseManifest(text, path);
  const kept: InitStep = { file, what: "kept", text: null };
  if (manifest["type"] !== undefined) return { step: kept, isCommonJs: manifest["type"] === "commonjs" };
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? "  ";
  const changed = `${JSON.stringify({ ...manifest, type: "module" }, null, indent)}\n`;
  return { step: { file, what: "changed", text: changed }, isCommonJs: false };
}

function parseManifest(text: string, path: string): Record<string, unknown> {
  try {
    const manifest: unknown = JSON.parse(text);
    if (typeof manifest === "object" && manifest !== null && !Array.isArray(manifest)) {
      return manifest as Record<string, unknown>;
    }
  } catch {
    // Said below, the same as for JSON that is no object.
  }
  throw new WaybillError(
    "config_invalid",
    `${path} is no JSON object. Correct it first; nothing was written.`,
    {
      file: path,
    },
  );
}
