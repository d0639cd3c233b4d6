import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { MiddlewareHandler } from "hono";
import { sha256 } from "../kernel/digest.ts";
import type { HttpContext, HttpEnv } from "./context.ts";
import { checkHost } from "./door.ts";
import type { HttpPorts } from "./ports.ts";

/** Where `npm run build`, or `npm start` in a checkout, puts the console: the same place seen from src and from dist. */
export const builtConsole = fileURLToPath(new URL("../../dist/console/", import.meta.url));

/**
 * The console may load from here and nowhere else: no inline script or style, no other site's pictures. What people
 * and agents write is shown by it, so this holds even where its own code would let something through.
 */
const policy = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** First parts of paths that are the API's, never a page of the console. */
const notPages = new Set([
  "v1",
  "api",
  "channels",
  "mcp",
  "assets",
  "healthz",
  "readyz",
  "metrics",
  "openapi.json",
]);

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
};

interface File {
  body: Buffer<ArrayBuffer>;
  gzip: Buffer<ArrayBuffer> | null;
  type: string;
  etag: string;
  immutable: boolean;
}

interface Built {
  /** When its index.html was written, so that a new build shows without a restart. */
  mtimeMs: number;
  files: ReadonlyMap<string, File>;
}

/**
 * Serves the console, open to everybody who may reach this server: it holds no data, and asks its reader for the token.
 * Every path that is no file and not the API's is its index.html, since the page itself reads the path. Where it was
 * not built, nothing is served and `/` is the built-in page.
 */
export function consoleFiles(ports: HttpPorts): MiddlewareHandler<HttpEnv> {
  const { consoleDir: folder } = ports;
  return async (c, next) => {
    const { method, path: asked } = c.req;
    if (folder === null || (method !== "GET" && method !== "HEAD")) return next();
    const page = isPage(c);
    if (!page && !assetPath.test(asked)) return next();
    // A page looks whether there is a new build; its assets are those of the build that was last looked at.
    const built = page ? readBuilt(folder) : (known.get(folder) ?? readBuilt(folder));
    const file = built?.files.get(page ? "/index.html" : asked);
    if (!file) return next();
    checkHost(ports.door, c);
    return answer(c, file);
  };
}

const assetPath = /^\/(assets\/.+|[\w-]+\.\w+)$/;

/** A browser that goes to an address, as opposed to a program that asks for data. */
function isPage(c: HttpContext): boolean {
  const { path: asked } = c.req;
  if (asked === "/" || asked === "/index.html") return true;
  const [, first = ""] = asked.split("/", 2);
  return (
    !notPages.has(first) && !/\.\w+$/.test(asked) && (c.req.header("accept") ?? "").includes("text/html")
  );
}

/** The builds that were read, by folder. */
const known = new Map<string, Built>();

/** What lies in the folder, read anew if it was built anew. Null: it was not built. */
function readBuilt(folder: string): Built | null {
  try {
    const { mtimeMs } = statSync(path.join(folder, "index.html"));
    const before = known.get(folder);
    if (before?.mtimeMs === mtimeMs) return before;
    const built = { mtimeMs, files: readFiles(folder) };
    known.set(folder, built);
    return built;
  } catch {
    return null;
  }
}

function readFiles(folder: string): Map<string, File> {
  const files = new Map<string, File>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[path.extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const full = path.join(entry.parentPath, entry.name);
    const name = `/${path.relative(folder, full).replaceAll(path.sep, "/")}`;
    const body = readFileSync(full);
    files.set(name, {
      body,
      gzip: readGzip(full),
      type,
      etag: `"${sha256(body).slice(0, 27)}"`,
      // The name of a file below /assets/ has a digest of what is in it.
      immutable: name.startsWith("/assets/"),
    });
  }
  return files;
}

function readGzip(full: string): Buffer<ArrayBuffer> | null {
  try {
    return readFileSync(`${full}.gz`);
  } catch {
    return null;
  }
}

function answer(c: HttpContext, file: File): Response {
  const headers: Record<string, string> = {
    ...c.get("headers"),
    "content-type": file.type,
    "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
    "content-security-policy": policy,
    "x-frame-options": "DENY",
    etag: file.etag,
    vary: "accept-encoding",
  };
  if (c.req.header("if-none-match") === file.etag) return new Response(null, { status: 304, headers });
  const packed = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "") ? file.gzip : null;
  if (packed) headers["content-encoding"] = "gzip";
  const body = packed ?? file.body;
  headers["content-length"] = String(body.byteLength);
  return new Response(c.req.method === "HEAD" ? null : body, { headers });
}
