/** Who imports whom, read from the sources by a parser; nothing is resolved or run. */
import { parseSync, Visitor } from "oxc-parser";

/**
 * One import. `runtime` is false for what is erased (`import type`, `export type`, `import("x").T`). An inline
 * `import { type A }` is runtime, because the import itself stays. `worker` is a module that another thread loads by
 * `new URL("./x.ts", import.meta.url)`: it counts for the table, not for cycles.
 */
export interface Import {
  readonly from: string;
  readonly specifier: string;
  readonly kind: "runtime" | "type" | "worker";
}

/** The imports of one source text. Throws when it does not parse, so that a broken file cannot pass as empty. */
export function importsOf(from: string, source: string): Import[] {
  const { program, errors } = parseSync(from, source);
  if (errors.length > 0) throw new Error(`${from} does not parse: ${errors[0]?.message}`);
  const found: Import[] = [];
  const add = (specifier: unknown, kind: Import["kind"]) => {
    if (typeof specifier === "string") found.push({ from, specifier, kind });
  };
  const kindOf = (kind: string | undefined) => (kind === "type" ? "type" : "runtime");
  const visitor = new Visitor({
    ImportDeclaration: (node) => add(node.source.value, kindOf(node.importKind)),
    ExportAllDeclaration: (node) => add(node.source.value, kindOf(node.exportKind)),
    ExportNamedDeclaration: (node) => add(node.source?.value, kindOf(node.exportKind)),
    ImportExpression: (node) => add("value" in node.source ? node.source.value : undefined, "runtime"),
    TSImportType: (node) => add(node.source.value, "type"),
    NewExpression: (node) => {
      const [first, second] = node.arguments;
      if (node.callee.type !== "Identifier" || node.callee.name !== "URL" || second === undefined) return;
      if (first?.type !== "Literal" || typeof first.value !== "string") return;
      if (/^\.{1,2}\/.*\.(ts|js)$/.test(first.value)) add(first.value, "worker");
    },
  });
  visitor.visit(program);
  return found;
}

/** Circles in a graph of files; each is the path around, its first file repeated at the end. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) cycles.push([...path.slice(at), file]);
    if (at >= 0 || done.has(file)) return;
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return cycles;
}
