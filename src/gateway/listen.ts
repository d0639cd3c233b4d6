import type { AddressInfo } from "node:net";
import { serve as serveNode } from "@hono/node-server";
import { WaybillError } from "../kernel/errors.ts";

export interface Listening {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Stand-in until src/http/serve.ts is there. */
export function serve(
  fetch: (request: Request) => Promise<Response>,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = serveNode({ fetch, hostname: host, port }, (info: AddressInfo) => {
      const name = host.includes(":") ? `[${host}]` : host;
      resolve({
        url: `http://${name}:${info.port}`,
        port: info.port,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            (server as { closeAllConnections?(): void }).closeAllConnections?.();
          }),
      });
    });
    server.on("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE"
          ? new WaybillError(
              "port_in_use",
              `Port ${port} on ${host} is taken. Stop what listens there, or choose another with --port (0: any free port).`,
              { port, host },
            )
          : error,
      );
    });
  });
}
