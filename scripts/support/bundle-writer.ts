import { builtinModules } from "node:module";
import { rolldown } from "rolldown";

/**
 * Bundles the code of the writer thread: two entries and what they share, without the hundreds of small modules that a
 * new thread would load one by one.
 * @param from the folder with `db/sqlite/writer-thread` and `gateway/commands`
 * @param extension of the modules there
 * @param to the folder that the bundle is written to, with the same two names
 * @returns the modules that are in it
 */
export async function bundleWriter(from: string, extension: "ts" | "js", to: string): Promise<string[]> {
  const names = ["db/sqlite/writer-thread", "gateway/commands"];
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `${from}/${name}.${extension}`])),
    external: [/^node:/, ...builtinModules],
    platform: "node",
  });
  const { output } = await bundle.write({
    dir: to,
    format: "esm",
    chunkFileNames: "db/sqlite/writer-[name]-[hash].js",
  });
  await bundle.close();
  return output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
}
