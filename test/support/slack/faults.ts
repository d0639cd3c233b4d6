/** What goes wrong on the way between a gateway and the emulated Slack, which itself never fails. */

export type Fault =
  /** Instead of doing it. */
  | { kind: "answer"; status: number; headers?: Record<string, string>; body?: unknown }
  /** The connection is cut, or nothing is ever answered, or success comes without an id; `done`: after it was done. */
  | { kind: "close" | "hang" | "no-receipt"; done: boolean };

/** `ok: false` with an error, as Slack refuses. */
export function refusal(error: string, more: Record<string, unknown> = {}): Fault {
  return { kind: "answer", status: 200, body: { ok: false, error, ...more } };
}

export interface Call {
  method: string;
  params: URLSearchParams;
  /** Which it came with. */
  token: string;
}

export class Faults {
  /** Every call of the gateway, also those that failed. */
  readonly calls: Call[] = [];
  readonly #once = new Map<string, Fault[]>();
  readonly #always = new Map<string, Fault>();
  #down: Fault | null = null;

  /** The next calls of these methods meet these faults, one each; after them all is well. */
  once(methods: string, ...faults: Fault[]): void {
    this.#once.set(methods, [...(this.#once.get(methods) ?? []), ...faults]);
  }

  /** All calls of these methods meet it, until it is taken back with null. */
  always(methods: string, fault: Fault | null): void {
    if (fault) this.#always.set(methods, fault);
    else this.#always.delete(methods);
  }

  /** Nothing gets through at all. */
  down(isDown: boolean): void {
    this.#down = isDown ? { kind: "close", done: false } : null;
  }

  of(method: string): Call[] {
    return this.calls.filter((call) => call.method === method);
  }

  take(method: string, params: URLSearchParams, token: string): Fault | null {
    this.calls.push({ method, params, token });
    if (this.#down) return this.#down;
    for (const [methods, faults] of this.#once) {
      if (methods.split(" ").includes(method) && faults.length > 0) return faults.shift() ?? null;
    }
    for (const [methods, fault] of this.#always) {
      if (methods.split(" ").includes(method)) return fault;
    }
    return null;
  }
}
