/** The scenarios that stand in the sources, found by a parser. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor } from "oxc-parser";

export interface Citation {
  readonly file: string;
  readonly ids: readonly string[];
  readonly name: string;
}

const root = path.resolve(import.meta.dirname, "../..");

/** The scenarios of every `*.scenario.test.ts` under test/, with files given from the root of the checkout. */
export function readCitations(): Citation[] {
  const files = globSync("test/**/*.scenario.test.ts", { cwd: root }).map((file) =>
    file.replaceAll("\\", "/"),
  );
  return files.toSorted().flatMap((file) => citationsOf(file, readFileSync(path.join(root, file), "utf8")));
}

/** The calls of `scenario` in one source text. Throws on a call whose ids or name are not written as literals. */
export function citationsOf(file: string, source: string): Citation[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  const found: Citation[] = [];
  const visitor = new Visitor({
    CallExpression: (node) => {
      if (node.callee.type !== "Identifier" || node.callee.name !== "scenario") return;
      const [ids, name] = node.arguments;
      if (ids?.type !== "ArrayExpression")
        throw new Error(`${file}: the ids of a scenario are an array literal.`);
      const literals = ids.elements.map((element) => literalOf(file, element));
      found.push({ file, ids: literals, name: literalOf(file, name) });
    },
  });
  visitor.visit(program);
  return found;
}

interface Node {
  readonly type: string;
}

function literalOf(file: string, node: Node | null | undefined): string {
  if (node?.type === "Literal" && "value" in node && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral" && "quasis" in node) {
    const quasis = node.quasis as { value: { cooked: string } }[];
    if (quasis.length === 1 && quasis[0] !== undefined) return quasis[0].value.cooked;
  }
  throw new Error(`${file}: the ids and the name of a scenario are written as literals.`);
}
