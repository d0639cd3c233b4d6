import { basename } from "node:path";
import type { Command } from "commander";
import { WaybillError } from "../../kernel/errors.ts";
import { applyInit, planInit, templates, type InitPlan, type Template } from "../init-files.ts";
import { paint, print, printJson } from "../terminal.ts";

interface Flags {
  yes?: boolean;
  template?: string;
  json?: boolean;
}

export function addInit(program: Command): void {
  program
    .command("init")
    .description("write a settings file and what belongs to it into this folder; overwrites nothing")
    .option("-y, --yes", "ask nothing")
    .option("--template <name>", `what answers: ${Object.keys(templates).join(" or ")}`)
    .option("--json", "machine-readable output; asks nothing")
    .addHelpText(
      "after",
      `
Examples:
  npm i waybill && npx waybill init && npx waybill dev
  waybill init --yes --template model`,
    )
    .action((flags: Flags) => init(flags));
}

async function init(flags: Flags): Promise<void> {
  const cwd = process.cwd();
  const asks = process.stdin.isTTY && process.stdout.isTTY && !flags.yes && !flags.json;
  const template = flags.template === undefined ? null : templateOf(flags.template);
  const plan = planInit(cwd, template ?? (asks ? await ask(cwd) : "function"));
  applyInit(cwd, plan);
  if (flags.json) printJson({ files: plan.steps.map(({ file, what }) => ({ file, what })) });
  else print(lines(plan));
}

function templateOf(name: string): Template {
  if (Object.hasOwn(templates, name)) return name as Template;
  throw new WaybillError(
    "invalid_request",
    `--template must be one of ${Object.keys(templates).join(", ")}.`,
    { issues: [{ field: "--template", rule: `must be one of ${Object.keys(templates).join(", ")}` }] },
  );
}

/** @throws WaybillError `invalid_request` if the person leaves */
async function ask(cwd: string): Promise<Template> {
  const { cancel, intro, isCancel, select } = await import("@clack/prompts");
  intro(`Waybill in ${basename(cwd)}`);
  const chosen = await select({
    message: "What shall answer?",
    options: Object.entries(templates).map(([value, { hint }]) => ({
      value: value as Template,
      label: hint,
    })),
  });
  if (!isCancel(chosen)) return chosen;
  cancel("Nothing was written.");
  throw new WaybillError("invalid_request", "Nothing was written.");
}

function lines(plan: InitPlan): string[] {
  const steps = plan.steps.map(({ file, what }) =>
    what === "kept"
      ? `  ${paint("grey", "kept")}     ${file}`
      : `  ${paint("green", what.padEnd(7))}  ${file}`,
  );
  return [...steps, "", "Now run: npx waybill dev", "and in another terminal: npx waybill chat"];
}
