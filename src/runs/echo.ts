import { hmac, sameText } from "../kernel/digest.ts";
import { WaybillError } from "../kernel/errors.ts";

/** Where a turn's answer is due, as an echo says it. */
export interface EchoedTurn {
  address: string;
  turn: string;
}

/** Signs the address of a turn, so that who hands it back can change nothing of it. */
export interface EchoSigner {
  /** `web:main/general;turn=turn_...;sig=...`, one line without white space. */
  sign(address: string, turn: string): string;
  /**
   * Reads what was handed back. It proves that we wrote it, and nothing about who hands it back.
   * @throws WaybillError `invalid_echo` if it is none, `forged_echo` if we did not sign it
   */
  read(text: string): EchoedTurn;
}

const form = /^(\S+);turn=([A-Za-z0-9_-]{1,200});sig=([A-Za-z0-9_-]{43})$/;

/** Models hand it back with the name that it had in the prompt, or in quotes; none of that is part of it. */
function bare(text: string): string {
  return text
    .trim()
    .replace(/^["'`]+|["'`]+$/g, "")
    .replace(/^reply_to=/, "");
}

/** @param key the cluster key: every node of the gateway reads what another signed */
export function echoSigner(key: Uint8Array, tenant: string): EchoSigner {
  const signature = (address: string, turn: string): string =>
    hmac(key, `echo\n${tenant}\n${address}\n${turn}`);
  return {
    sign: (address, turn) => `${address};turn=${turn};sig=${signature(address, turn)}`,
    read(text) {
      const [, address, turn, given] = form.exec(bare(text)) ?? [];
      if (address === undefined || turn === undefined || given === undefined) {
        throw new WaybillError(
          "invalid_echo",
          "turn_conversation is not the value of a reply_to= line. Copy that value of your turn's prompt, whole and unchanged.",
          { field: "turn_conversation" },
        );
      }
      if (sameText(given, signature(address, turn))) return { address, turn };
      throw new WaybillError(
        "forged_echo",
        "turn_conversation was changed, or does not come from this gateway. Copy the value of your turn's reply_to= line, whole and unchanged.",
        { field: "turn_conversation" },
      );
    },
  };
}
