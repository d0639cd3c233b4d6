#!/usr/bin/env node
// The launcher. It is plain, old JavaScript so that a Node that is too old can read it and say so, and it becomes
// the server itself: no child process stands between a signal and the gateway.
import { existsSync } from "node:fs";

var oldest = 24;
var major = Number(process.versions.node.split(".")[0]);

if (!(major >= oldest)) {
  process.stderr.write(
    "Waybill needs Node.js " + oldest + " or newer, and this is Node.js " + process.versions.node + ".\n",
  );
  process.exit(5);
}

// A checkout has the sources, which Node runs as they are; the package has only what was built from them. The
// sources go first, so that a forgotten dist/ in a checkout never answers for code that has changed since.
var source = new URL("../src/cli/main.ts", import.meta.url);
var built = new URL("../dist/cli/main.js", import.meta.url);
import("node:module")
  .then(function (module) {
    // Node keeps what it compiled in the folder for temporary files (NODE_DISABLE_COMPILE_CACHE=1 turns that off): the
    // next start takes 0.2 s less.
    module.enableCompileCache();
    return import(existsSync(source) ? source.href : built.href);
  })
  .catch(function (error) {
    console.error(error);
    process.exit(1);
  });
