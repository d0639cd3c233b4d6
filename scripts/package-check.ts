/**
 * Checks the package as a user gets it: packs it (which builds it), lints the tarball and its types, installs it into
 * an empty folder, measures that folder, and runs the command and imports the entries from there.
 *
 * Each step prints a line; the first that fails ends the check with exit 1.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { binary, root } from "./support/paths.ts";
import { onInterrupt, run, type RunOptions, runNode } from "./support/run.ts";

/** What installing waybill, with no optional peer, may cost. A megabyte is 10^6 bytes of file contents. */
const limits = { megabytes: 70, packages: 80 } as const;

const folder = mkdtempSync(path.join(tmpdir(), "waybill-package-"));
const cleanUp = () => rmSync(folder, { recursive: true, force: true });
// What npm and npx start finds the Node that runs us, not whichever is installed on the machine.
const env = {
  ...process.env,
  PATH: [path.dirname(process.execPath), process.env["PATH"]].join(path.delimiter),
};
const quiet = (cwd: string): RunOptions => ({ cwd, env, show: false, timeoutMs: 300_000 });
const npmFlags = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];

async function must(step: string, running: ReturnType<typeof run>): Promise<string> {
  const { code, output, timedOut } = await running;
  if (code !== 0) throw new Error(`${step} failed${timedOut ? " (too slow)" : ""}:\n${output}`);
  return output;
}

function say(line: string): void {
  process.stdout.write(`  ${line}\n`);
}

/** The packages of an install, from the lock file that npm keeps in it. */
function countPackages(installed: string): number {
  const lock = path.join(installed, "node_modules", ".package-lock.json");
  const { packages } = JSON.parse(readFileSync(lock, "utf8")) as { packages: Record<string, unknown> };
  return Object.keys(packages).length;
}

function bytesOf(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0);
}

async function pack(): Promise<string> {
  const args = ["pack", "--pack-destination", folder, ...npmFlags];
  await must("npm pack", run("npm", args, quiet(root)));
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack left no tarball.");
  const file = path.join(folder, tarball);
  say(`packed ${tarball}, ${(statSync(file).size / 1e3).toFixed(0)} kB`);
  return file;
}

async function lint(tarball: string): Promise<void> {
  await must("publint", runNode([binary("publint", "publint"), "run", tarball, "--strict"], quiet(root)));
  say("publint has nothing to say");
  const attw = binary("@arethetypeswrong/cli", "attw");
  await must("attw", runNode([attw, tarball, "--profile", "esm-only", "--no-color"], quiet(root)));
  say("attw finds the types right");
}

async function install(tarball: string): Promise<string> {
  const user = path.join(folder, "user");
  const manifest = JSON.stringify({ name: "user", private: true, type: "module" });
  mkdirSync(user);
  writeFileSync(path.join(user, "package.json"), manifest);
  await must("npm install", run("npm", ["install", tarball, "--prefer-offline", ...npmFlags], quiet(user)));

  const packages = countPackages(user);
  const megabytes = bytesOf(path.join(user, "node_modules")) / 1e6;
  const measured = `${megabytes.toFixed(1)} MB in ${packages} packages`;
  if (megabytes > limits.megabytes || packages > limits.packages) {
    throw new Error(
      `The install is ${measured}; at most ${limits.megabytes} MB and ${limits.packages} are allowed.`,
    );
  }
  say(`installs as ${measured}`);
  return user;
}

/** The channels' own packages: whoever imports `waybill/slack` installs them. After the install was measured. */
const peers = ["@slack/web-api", "@slack/socket-mode", "grammy", "irc-framework"];

async function addPeers(user: string): Promise<void> {
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const exact = peers.map((name) => `${name}@${devDependencies[name]}`);
  await must(
    "npm install of the optional peers",
    run("npm", ["install", ...exact, "--prefer-offline", ...npmFlags], quiet(user)),
  );
  say(`with ${peers.join(" and ")}:`);
}

async function use(user: string): Promise<void> {
  const { version, exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    version: string;
    exports: Record<string, unknown>;
  };
  const printed = (await must("waybill --version", run("npx", ["waybill", "--version"], quiet(user)))).trim();
  if (printed !== version) throw new Error(`npx waybill --version printed "${printed}", not ${version}.`);
  say(`npx waybill --version prints ${printed}`);

  await addPeers(user);
  const entries = Object.keys(exports).filter((entry) => entry !== "./package.json");
  for (const entry of entries.map((name) => name.replace(/^\./, "waybill"))) {
    const code = `const names = Object.keys(await import(${JSON.stringify(entry)})); if (!names.length) process.exit(1);`;
    await must(`import "${entry}"`, runNode(["--input-type=module", "--eval", code], quiet(user)));
    say(`"${entry}" can be imported`);
  }
}

onInterrupt(cleanUp);
try {
  const tarball = await pack();
  await lint(tarball);
  await use(await install(tarball));
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  cleanUp();
}
