/**
 * Builds the console into dist/console, with a gzip copy beside each text.
 *
 *     node scripts/build-console.ts              builds
 *     node scripts/build-console.ts --if-stale   builds only if its sources have changed since (npm start does this)
 *
 * With --if-stale a build that fails says so and does not stand in the way: the gateway shows its built-in page.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { licensesOf } from "./support/licenses.ts";
import { root } from "./support/paths.ts";

const target = path.join(root, "dist/console");
/** Bytes with gzip. */
const firstLoadMost = 300_000;
const stamp = path.join(target, ".digest");

/** What the console is made of. */
const sources = [
  "console/**/*.*",
  "src/texts/*.ts",
  "src/streams/reduce.ts",
  "src/http/api.ts",
  "package-lock.json",
];

function digestOfSources(): string {
  const hash = createHash("sha256");
  const files = globSync(sources, { cwd: root }).filter((file) => !file.includes(".test."));
  for (const file of files.toSorted()) {
    const full = path.join(root, file);
    if (statSync(full).isFile()) hash.update(`${file}\0`).update(readFileSync(full)).update("\0");
  }
  return hash.digest("hex");
}

/** Built beside its place and then moved there, so that a gateway that runs never serves half of it. */
async function buildConsole(digest: string): Promise<number> {
  // Whoever starts us (a test runner) may have set another, and then the slow development build of React would go out.
  process.env["NODE_ENV"] = "production";
  const { build } = await import("vite");
  const outDir = path.join(root, "dist", `.console-${process.pid}`);
  try {
    const built = await build({
      configFile: path.join(root, "console/vite.config.ts"),
      logLevel: "warn",
      build: { outDir, emptyOutDir: true },
    });
    const chunks = [built].flat().flatMap((one) => ("output" in one ? one.output : []));
    const modules = chunks.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
    writeFileSync(path.join(outDir, "THIRD_PARTY_LICENSES.txt"), `${licensesOf(modules)}\n`);
    for (const file of globSync("**/*.{html,js,css,svg,json}", { cwd: outDir })) {
      const full = path.join(outDir, file);
      const packed = gzipSync(readFileSync(full), { level: 9 });
      writeFileSync(`${full}.gz`, packed);
    }
    const bytes = firstLoadOf(outDir);
    if (bytes > firstLoadMost) {
      throw new Error(`its first load is ${bytes} bytes with gzip; at most ${firstLoadMost} are allowed.`);
    }
    writeFileSync(path.join(outDir, ".digest"), digest);
    put(outDir);
    return bytes;
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** What a browser loads before anything can be seen, as it goes over the network. */
function firstLoadOf(built: string): number {
  const html = readFileSync(path.join(built, "index.html"), "utf8");
  const files = ["/index.html", ...[...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, file]) => file!)];
  return files.reduce((sum, file) => sum + statSync(path.join(built, `${file}.gz`)).size, 0);
}

/** Another process may put the same build there at this moment; then that one is as good. */
function put(built: string): void {
  for (let left = 5; ; left -= 1) {
    rmSync(target, { recursive: true, force: true });
    try {
      return renameSync(built, target);
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

const ifStale = process.argv.includes("--if-stale");
const digest = digestOfSources();
if (!ifStale || !existsSync(stamp) || readFileSync(stamp, "utf8") !== digest) {
  try {
    const began = performance.now();
    const bytes = await buildConsole(digest);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    process.stderr.write(
      `Built the console into dist/console in ${seconds} s; its first load is ${(bytes / 1e3).toFixed(0)} kB with gzip.\n`,
    );
  } catch (error) {
    process.stderr.write(
      `The console could not be built: ${error instanceof Error ? error.message : error}\n`,
    );
    if (!ifStale) process.exitCode = 1;
  }
}
