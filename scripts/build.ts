/**
 * Builds dist/ from src/: plain tsc, one file to one file with declarations, then the assets that are not code, then
 * the console.
 */
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bundleWriter } from "./support/bundle-writer.ts";
import { licensesOf } from "./support/licenses.ts";
import { binary, root } from "./support/paths.ts";

const dist = path.join(root, "dist");
rmSync(dist, { recursive: true, force: true });

const tsc = spawnSync(process.execPath, [binary("typescript", "tsc"), "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

// In place of the modules of the same names, which nobody else loads.
const bundled = await bundleWriter(dist, "js", dist);
writeFileSync(path.join(dist, "THIRD_PARTY_LICENSES.txt"), `${licensesOf(bundled)}\n`);

let assets = 0;
for (const file of globSync("src/**/*.*", { cwd: root })) {
  if (file.endsWith(".ts") || file.endsWith(".tsx")) continue;
  const target = path.join(dist, path.relative("src", file));
  mkdirSync(path.dirname(target), { recursive: true });
  cpSync(path.join(root, file), target);
  assets += 1;
}
const built = globSync("dist/**/*.js", { cwd: root }).length;
process.stdout.write(
  `Built ${built} modules${assets > 0 ? ` and copied ${assets} assets` : ""} into dist/.\n`,
);

const consoleBuild = spawnSync(process.execPath, [path.join(root, "scripts/build-console.ts")], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = consoleBuild.status ?? 1;
