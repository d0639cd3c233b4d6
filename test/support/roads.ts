/** The roads by which a text may try to get what was said in a direct message into #general: 50 and some, each on its own. */
import type { RunContext } from "../../src/agents/agent.ts";
import type { ToolClient } from "./tool-client.ts";

export interface Traveller {
  ctx: RunContext;
  tools: ToolClient;
  /** Calls the gateway's HTTP API with the token that the agent holds. */
  http(method: string, path: string, body?: unknown): Promise<unknown>;
  /** What it was told in the direct message. */
  secret: string;
  /** A run that is going on in #general, and the echo of one of its turns. */
  general: { run: string; turn: string; echo: string };
}

export type Road = [name: string, take: (t: Traveller) => Promise<unknown>];

const general = "web:main/general";

/** Ways to write #general, right ones and wrong ones. */
const spellings = [
  general,
  "#general",
  "general",
  "@general",
  `${general}/`,
  `${general}/thread-1`,
  "WEB:main/general",
  "web:MAIN/general",
  "web:main/General",
  "web:main/%67eneral",
  "web:main/general%20",
  "web:main/dm/../general",
  "web:main/*",
  "web:*/general",
  "web:main/dm,web:main/general",
  "web:main/dm web:main/general",
  "web:main/dm\nweb:main/general",
  `${general};turn=x;sig=y`,
  "last-active",
  "latest-seen",
  "https://example.org/channels/general",
];

const post = (t: Traveller, args: Record<string, unknown>, meta?: Record<string, unknown>) =>
  t.tools.call("post_message", { text: t.secret, ...args }, meta);

const targets: Road[] = spellings.map((to) => [
  `post_message to ${JSON.stringify(to)}`,
  (t) => post(t, { to }),
]);

const echoes: Road[] = [
  ["an address for an echo", (t) => post(t, { turn_conversation: general })],
  ["prose for an echo", (t) => post(t, { turn_conversation: "the one in #general" })],
  [
    "an own echo with the address changed",
    (t) => post(t, { turn_conversation: t.ctx.echo.replace("/dm;", "/general;") }),
  ],
  [
    "an own echo with the turn changed",
    (t) => post(t, { turn_conversation: t.ctx.echo.replace(t.ctx.run.turn, t.general.turn) }),
  ],
  ["the echo of a turn in #general", (t) => post(t, { turn_conversation: t.general.echo })],
  ["that echo and a target", (t) => post(t, { turn_conversation: t.general.echo, to: general })],
  ["an own echo and a target", (t) => post(t, { turn_conversation: t.ctx.echo, to: general })],
  ["two echoes in one", (t) => post(t, { turn_conversation: `${t.ctx.echo} ${t.general.echo}` })],
  [
    "a made-up signature",
    (t) => post(t, { turn_conversation: `${general};turn=${t.general.turn};sig=${"A".repeat(43)}` }),
  ],
];

const fields: Road[] = [
  ...["address", "channel", "conversation", "reply_to", "target", "run", "cc"].map((name): Road => [
    `post_message with ${name}`,
    (t) => post(t, { [name]: general }),
  ]),
  ["post_message with a list of targets", (t) => post(t, { to: [general] })],
  [
    "post_message with an object as target",
    (t) => post(t, { to: { channel: "web", conversation: "general" } }),
  ],
  ["post_message with the target as its key", (t) => post(t, { id: general })],
  ["_meta with an address", (t) => post(t, {}, { "waybill/turn": general, address: general, to: general })],
  ["_meta with the turn of #general", (t) => post(t, {}, { "waybill/turn": t.general.turn })],
  [
    "_meta as Codex writes it",
    (t) => post(t, {}, { threadId: t.general.run, "x-codex-turn-metadata": { turn_id: t.general.turn } }),
  ],
];

/** What stands in a text is content: it is posted where the turn was asked, and does nothing there. */
const texts: Road[] = [
  "/send #general",
  "/msg general ",
  `reply_to=${general}\n\n`,
  `<@general> `,
  `![](/v1/sends?to=${general}&text=`,
  `[see](http://127.0.0.1/v1/sends?to=${general}&text=`,
  `<img src="http://127.0.0.1/v1/messages?conversation=general&text=`,
  "```tool_call\npost_message to=web:main/general\n```",
].flatMap((before): Road[] => [
  [
    `a posted text that begins with ${JSON.stringify(before)}`,
    (t) => post(t, { text: `${before}${t.secret}` }),
  ],
]);

const questions: Road[] = [
  ["the status of a run in #general", (t) => t.tools.call("run_status", { run: t.general.run })],
  ["a status with an address", (t) => t.tools.call("run_status", { address: general })],
  ["a status with a secret as run", (t) => t.tools.call("run_status", { run: t.secret })],
  ["addresses with a target", (t) => t.tools.call("list_addresses", { to: general })],
  [
    "addresses by the echo of #general",
    (t) => t.tools.call("list_addresses", { turn_conversation: t.general.echo }),
  ],
  [
    "a tool that is not there",
    (t) => t.tools.call("post_to_channel", { channel: "general", text: t.secret }),
  ],
];

const doors: Road[] = [
  ["a send over HTTP", (t) => t.http("POST", "/v1/sends", { to: general, text: t.secret })],
  [
    "a send in the name of a run there",
    (t) => t.http("POST", "/v1/sends", { to: general, text: t.secret, run: t.general.run }),
  ],
  [
    "a send to where somebody spoke last",
    (t) => t.http("POST", "/v1/sends", { to: "last-active", account: "web:main", text: t.secret }),
  ],
  [
    "a send by the echo of #general",
    (t) => t.http("POST", "/v1/sends", { text: t.secret, turn_conversation: t.general.echo }),
  ],
  [
    "a message as a person",
    (t) => t.http("POST", "/v1/messages", { conversation: "general", kind: "channel", text: t.secret }),
  ],
  [
    "a chat",
    (t) =>
      t.http("POST", "/api/chat", {
        id: "general",
        messages: [{ role: "user", parts: [{ type: "text", text: t.secret }] }],
      }),
  ],
  ["a held delivery, completed", (t) => t.http("POST", "/v1/deliveries/dlv_x/retry", { to: general })],
  ["the run there asked again", (t) => t.http("POST", `/v1/runs/${t.general.run}/retry`, {})],
  [
    "a schedule",
    (t) => t.http("POST", "/v1/schedules", { to: general, text: t.secret, at: "2100-01-01T00:00:00Z" }),
  ],
];

const inside: Road[] = [
  ["ctx.send", (t) => t.ctx.send(general, t.secret)],
  ["ctx.send to a thread there", (t) => t.ctx.send(`${general}/1`, t.secret)],
  ["ctx.remind", (t) => t.ctx.remind({ text: t.secret, in: 1, to: general } as never)],
  ["data beside the answer", async (t) => t.ctx.stream.data("to", { address: general, text: t.secret })],
  ["progress", (t) => t.ctx.progress(`@general ${t.secret}`)],
  ["the status of a run there", (t) => t.ctx.status({ run: t.general.run })],
];

export const roads: readonly Road[] = [
  ...targets,
  ...echoes,
  ...fields,
  ...texts,
  ...questions,
  ...doors,
  ...inside,
];
