import { readFileSync } from "node:fs";
import path from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const root = import.meta.dirname;
const { version } = JSON.parse(readFileSync(path.join(root, "../package.json"), "utf8")) as {
  version: string;
};
/** The gateway that `npm run console` talks to. */
const gateway = process.env["WAYBILL_URL"] ?? "http://127.0.0.1:8787";

export default defineConfig({
  root,
  plugins: [react()],
  define: { __WAYBILL_VERSION__: JSON.stringify(version) },
  build: {
    outDir: "../dist/console",
    emptyOutDir: true,
    target: "es2023",
    // Everything is served by the gateway under one strict policy: no inlined pieces.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
  server: {
    proxy: Object.fromEntries(
      ["/v1", "/api", "/healthz", "/readyz", "/openapi.json", "/metrics"].map((prefix) => [
        prefix,
        { target: gateway, changeOrigin: true, headers: { origin: gateway } },
      ]),
    ),
  },
});
