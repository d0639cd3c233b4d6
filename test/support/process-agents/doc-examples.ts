/** The examples of docs/protocol.md, "Process agents", as files that can be run. */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

export interface DocExample {
  name: "python" | "js" | "sh";
  command: string;
  args: string[];
}

const page = path.resolve(import.meta.dirname, "../../../docs/protocol.md");
const programs = { python: "python3", js: process.execPath, sh: "sh" } as const;
const endings = { python: "py", js: "mjs", sh: "sh" } as const;

/** Writes the examples into a folder of their own. @throws Error if one of the three is not on the page */
export async function docExamples(): Promise<{ examples: DocExample[]; dispose(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "waybill-examples-"));
  const text = await readFile(page, "utf8");
  const section = text.slice(text.indexOf("\n## Process agents\n"));
  const examples: DocExample[] = [];
  for (const name of ["python", "js", "sh"] as const) {
    const source = new RegExp(`\n\`\`\`${name}\n(.*?)\n\`\`\`\n`, "s").exec(section)?.[1];
    if (source === undefined) throw new Error(`docs/protocol.md has no example in ${name}.`);
    const file = path.join(folder, `agent.${endings[name]}`);
    await writeFile(file, source);
    examples.push({ name, command: programs[name], args: [file] });
  }
  return { examples, dispose: () => rm(folder, { recursive: true, force: true }) };
}

/** Null if it can be run here, else why not. */
export function missingProgram(command: string): string | null {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return null;
  } catch {
    return `there is no ${command} here; to get it: apt-get install ${command}`;
  }
}
