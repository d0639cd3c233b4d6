import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { WireSent } from "../../http/api.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { addClientFlags } from "../client-flags.ts";
import { connect, findServer, remoteClient, type Client, type ClientFlags } from "../client.ts";
import { prepare } from "../prepare.ts";
import { print, printJson } from "../terminal.ts";

interface SendFlags extends ClientFlags {
  to?: string;
  turnConversation?: string;
  run?: string;
  account?: string;
  id?: string;
}

export function addSend(program: Command): void {
  addClientFlags(program.command("send"))
    .argument("[text...]", "what to post; - or nothing: read from standard input")
    .description("post a message: for the turn that an agent works on, or as the operator")
    .option("--to <address>", "another place than the turn's own; an operator names one always")
    .option("--turn-conversation <echo>", "which turn: the value of reply_to= in its prompt")
    .option("--run <run>", "in the name of this run, under the rules of its turn")
    .option("--account <account>", "an operator: whose slot, with --to last-active or latest-seen")
    .option("--id <key>", "the same key again posts nothing twice")
    .addHelpText(
      "after",
      `
With WAYBILL_GRANT set, as in the process of an agent, it acts for that agent's turns and
nothing else: without --to the message goes where the turn was asked. Otherwise it acts as
the operator, with WAYBILL_TOKEN if the gateway asks for one.

Examples:
  waybill send "Half of it is done." --turn-conversation "web:main/dm;turn=...;sig=..."
  echo "Deployed." | waybill send --to web:main/general --id deploy-42`,
    )
    .action((words: string[], flags: SendFlags) => send(words, flags));
}

async function send(words: string[], flags: SendFlags): Promise<void> {
  const { to, turnConversation, run, account, id } = flags;
  const grant = process.env["WAYBILL_GRANT"] ?? "";
  if (grant === "" && to === undefined) {
    throw new WaybillError(
      "no_destination",
      "Name the place with --to, such as web:main/general. Only an agent may leave it out, whose process has WAYBILL_GRANT.",
    );
  }
  const text = await textOf(words);
  const client = grant === "" ? await connect(flags) : await connectWith(grant, flags);
  const fields = { to, turn_conversation: turnConversation, run, account, id };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  try {
    const sent = await client.post<WireSent>("/v1/sends", { text, ...given });
    if (flags.json) printJson(sent);
    else print([`${said[sent.state] ?? sent.state} ${sent.address}  ${sent.delivery}`]);
  } finally {
    await client.close();
  }
}

const said: Readonly<Record<string, string>> = {
  delivered: "Posted at",
  pending: "Accepted for",
  blocked: "Not posted, the place is closed:",
};

/** @throws WaybillError `no_server` */
async function connectWith(grant: string, flags: ClientFlags): Promise<Client> {
  const url = await findServer(flags, prepare(flags));
  if (url !== null) return remoteClient(url, grant);
  throw new WaybillError(
    "no_server",
    "No gateway runs here. A process of an agent has its address in WAYBILL_URL; or name it with --url.",
  );
}

/** @throws WaybillError `invalid_request` */
async function textOf(words: readonly string[]): Promise<string> {
  const isPiped = words.length === 0 || (words.length === 1 && words[0] === "-");
  if (isPiped && process.stdin.isTTY) {
    throw new WaybillError("invalid_request", 'Give the text: waybill send "...", or through a pipe.', {
      field: "text",
    });
  }
  const text = isPiped ? (await readAll(process.stdin)).replace(/\r?\n$/, "") : words.join(" ");
  if (text.trim() !== "") return text;
  throw new WaybillError("invalid_request", "The text is empty.", { field: "text" });
}
