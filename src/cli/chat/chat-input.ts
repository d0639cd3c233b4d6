import type { ChatPlace } from "./chat-session.ts";

/** What a line in a chat means. */
export type ChatLine =
  | { kind: "nothing" }
  | { kind: "say"; text: string }
  | { kind: "open"; place: ChatPlace }
  | { kind: "help" }
  | { kind: "leave" }
  | { kind: "wrong"; text: string };

/** True for the reserved word that does not wait for the answer before it. */
export function isStop(text: string): boolean {
  return /^\/?stop$/i.test(text);
}

/** Reads a line as it was typed, in a place. Whatever is no command of ours is said as it is. */
export function readLine(line: string, place: ChatPlace): ChatLine {
  const text = line.trim();
  if (text === "") return { kind: "nothing" };
  const [word = "", ...rest] = text.split(/\s+/);
  const argument = rest.join(" ");
  switch (word) {
    case "/help":
      return { kind: "help" };
    case "/quit":
    case "/exit":
      return { kind: "leave" };
    case "/thread":
      return { kind: "open", place: { ...place, thread: argument === "" ? null : argument } };
    case "/c":
      if (argument === "") return { kind: "wrong", text: "Name the conversation: /c support" };
      return { kind: "open", place: { conversation: argument, thread: null } };
  }
  return { kind: "say", text };
}

export const chatHelp = `/stop          stop what runs here          /status   what runs here
/new           begin a new memory           /help     this text
/thread <id>   open a thread (alone: back)  /c <id>   another conversation
/quit          leave (or Ctrl-C twice; once stops the run)
Anything else is said. The agents' own help: help`;
