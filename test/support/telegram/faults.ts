/** What goes wrong on the way between a gateway and the fake Telegram. */

export type Fault =
  /** Instead of doing it; without `ok` the body is not Telegram's own. */
  | { kind: "answer"; status: number; body: unknown }
  /** The connection is cut, or nothing is ever answered, or success comes without an id; `done`: after it was done. */
  | { kind: "close" | "hang" | "no-receipt"; done: boolean };

/** As Telegram refuses. */
export function refusal(code: number, description: string, parameters: Record<string, unknown> = {}): Fault {
  return { kind: "answer", status: code, body: { ok: false, error_code: code, description, parameters } };
}

export interface Call {
  method: string;
  params: Record<string, unknown>;
  /** Which it came with. */
  token: string;
}

export class Faults {
  /** Every call of the gateway, also those that failed. */
  readonly calls: Call[] = [];
  readonly #once: { methods: string[]; fault: Fault }[] = [];
  readonly #always = new Map<string, Fault>();

  /** The next calls of these methods meet these faults, one each; after them all is well. */
  once(methods: string, ...faults: Fault[]): void {
    for (const fault of faults) this.#once.push({ methods: methods.split(" "), fault });
  }

  /** All calls of these methods meet it, until it is taken back with null. */
  always(method: string, fault: Fault | null): void {
    if (fault) this.#always.set(method, fault);
    else this.#always.delete(method);
  }

  of(...methods: string[]): Call[] {
    return this.calls.filter(({ method }) => methods.includes(method));
  }

  take(call: Call): Fault | null {
    this.calls.push(call);
    const at = this.#once.findIndex(({ methods }) => methods.includes(call.method));
    if (at >= 0) return this.#once.splice(at, 1)[0]?.fault ?? null;
    return this.#always.get(call.method) ?? null;
  }
}
