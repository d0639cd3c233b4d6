import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";

/** The licences of the packages whose code a bundle holds: what they ask for in return for being copied. */
export function licensesOf(modules: Iterable<string>): string {
  const folders = new Set<string>();
  for (const id of modules) {
    const found = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll("\\", "/"));
    if (found?.[1] !== undefined && existsSync(`${found[1]}/package.json`)) folders.add(found[1]);
  }
  const sorted = [...folders].toSorted((a, b) => path.basename(a).localeCompare(path.basename(b)));
  return sorted.map(licenseOf).join("\n\n");
}

function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as {
    name: string;
    version: string;
    license?: string;
  };
  const [file] = globSync("{LICENSE,LICENCE,license,License}*", { cwd: folder });
  const text =
    file === undefined
      ? "(It comes without a text of its licence.)"
      : readFileSync(`${folder}/${file}`, "utf8");
  return `${name} ${version} (${license ?? "licence not named"})\n\n${text.trim()}`;
}
