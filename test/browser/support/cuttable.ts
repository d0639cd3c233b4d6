import { createServer, connect, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** A way to a server that can be cut: all its connections at once, as when a cable is pulled. */
export interface Cuttable {
  url: string;
  /** Ends what is connected; with `keepOut`, nobody gets in until `mend`. */
  cut(options?: { keepOut: boolean }): void;
  mend(): void;
  close(): Promise<void>;
}

export async function cuttable(target: string): Promise<Cuttable> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let closed = false;
  const server = createServer((incoming) => {
    if (closed) return void incoming.destroy();
    const outgoing = connect(Number(port), hostname);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut: Cuttable["cut"] = ({ keepOut } = { keepOut: false }) => {
    closed = keepOut;
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend: () => {
      closed = false;
    },
    close: () => {
      cut({ keepOut: true });
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
