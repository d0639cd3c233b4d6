import { z } from "zod";
import { shortText } from "../route.ts";
import { echoMost } from "../routes/sends.ts";

/** What models read of the tools. They see little else of the rules, so each says what to do, and what comes of it. */
const turn_conversation = shortText(echoMost)
  .optional()
  .describe(
    "The value of the reply_to= line of the turn that you are working on, copied whole and unchanged. It says which conversation this call belongs to.",
  );

export const postMessage = {
  title: "Post a message",
  description:
    "Posts a message. Leave `to` out to post where you were asked: that is nearly always right, and the final answer of " +
    "your turn goes there by itself, without this tool. Name another address in `to` only if list_addresses shows it. Give " +
    "`turn_conversation`. If it is refused, the error names the address to use; do not look for a way around it.",
  inputSchema: z.strictObject({
    text: z
      .string()
      .refine((text) => text.trim() !== "", "is empty")
      .describe("What to post, as Markdown."),
    to: shortText(14_000)
      .optional()
      .describe("An address such as web:main/general. Left out: the place where your turn was asked."),
    turn_conversation,
    id: shortText(200)
      .optional()
      .describe(
        "A key of your choice: the same key again posts nothing twice. Another text needs another key.",
      ),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

export const runStatus = {
  title: "Status of runs",
  description:
    "What runs in the conversation where you were asked, and what has ended, from the ledger: state, since when, progress " +
    "and reason. Nothing else is known about jobs there; tell people only what stands in the answer.",
  inputSchema: z.strictObject({
    run: shortText(200).optional().describe("One run of this conversation. Left out: all of them."),
    turn_conversation,
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export const listAddresses = {
  title: "Addresses you may post to",
  description:
    "The addresses that your turn may post to: its own, and those that the operator allowed for it by name. Everything " +
    "else is refused.",
  inputSchema: z.strictObject({ turn_conversation }),
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export const instructions =
  "These tools act for the turn that you are working on. Each turn's prompt has a line reply_to=...: give its value, " +
  "unchanged, as turn_conversation with every call. A message without `to` goes where the turn was asked.";
