import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Where this installation lies: two folders above this module, in the sources and in dist. */
const home = new URL("../../", import.meta.url);
const isSource = import.meta.url.endsWith(".ts");

/** The module of `waybill` or `waybill/x` of this very installation; null if there is no such entry. */
function ownEntry(specifier: string): string | null {
  const { exports } = JSON.parse(readFileSync(new URL("package.json", home), "utf8")) as {
    exports: Record<string, string | { default: string }>;
  };
  const entry = exports[`.${specifier.slice("waybill".length)}`];
  if (typeof entry !== "object") return null;
  const file = isSource ? entry.default.replace("./dist/", "./src/").replace(/\.js$/, ".ts") : entry.default;
  return new URL(file, home).href;
}

/** What was seen while a settings file was loaded. */
export interface Loading {
  /** Files in the order in which they were read, without those of packages and of Waybill itself. */
  files: string[];
  /** The file that was read last: the one with the error, if one does not parse. */
  last: string | null;
  stop(): void;
}

/**
 * Watches and helps while a settings file is loaded: `waybill` in it means the Waybill that loads it (so a checkout, a
 * global installation and npx all give it the same classes), and the file is an ES module whatever the nearest
 * package.json says, since `npm init` writes `"type": "commonjs"`.
 */
export function watchLoading(configFile: string): Loading {
  const config = pathToFileURL(configFile).href;
  const isConfig = (url: string): boolean => url.split("?", 1)[0] === config;
  const loading: Loading = { files: [], last: null, stop: () => hooks.deregister() };
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const own = /^waybill(\/|$)/.test(specifier) ? ownEntry(specifier) : null;
      const found = own === null ? next(specifier, context) : next(own, context);
      if (!isConfig(found.url)) return found;
      return { ...found, format: /\.m?ts$/.test(configFile) ? "module-typescript" : "module" };
    },
    load(url, context, next) {
      if (url.startsWith("file:") && !url.includes("/node_modules/")) {
        const file = fileURLToPath(url.split("?", 1)[0] ?? url);
        loading.last = file;
        if (!url.startsWith(new URL("src/", home).href) && !url.startsWith(new URL("dist/", home).href)) {
          loading.files.push(file);
        }
      }
      return next(url, context);
    },
  });
  return loading;
}
