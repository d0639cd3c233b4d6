import { serve } from "../http/serve.ts";
import { createGateway } from "./create-gateway.ts";
import { gatewayOptions, refuseOpenDoor, type ServerSettings } from "./environment.ts";
import type { GatewayOptions } from "./options.ts";
import { removeServed, writeServed } from "./served-file.ts";
import type { WaybillConfig } from "./settings.ts";

/** A gateway that listens. */
export interface ServedGateway {
  /** `http://127.0.0.1:8787`, with the real port. */
  url: string;
  port: number;
  /** Stops gracefully: no new requests, runs end within the grace or are reported, what is due is sent. */
  stop(): Promise<void>;
}

/**
 * Makes a gateway and serves it. The port is taken before the store is opened, so a process that cannot listen claims
 * nothing; until the gateway has started it answers 503.
 * @throws WaybillError `token_required`, `port_in_use`, and what `Gateway.start` throws
 */
export async function serveGateway(
  config: WaybillConfig,
  settings: ServerSettings,
  options: Pick<GatewayOptions, "log" | "onFatal" | "crash"> = {},
): Promise<ServedGateway> {
  refuseOpenDoor(settings);
  const at = { host: settings.host, port: settings.port };
  // The gateway tells agents where it serves, which is known when the port is taken; until then nothing is asked of it.
  const server = await serve((request, env) => gateway.fetch(request, env), at);
  const url = localUrl(settings.host, server.port);
  const gateway = createGateway(config, { ...gatewayOptions(settings), url, ...options });
  try {
    await gateway.start();
  } catch (error) {
    await server.close();
    throw error;
  }
  writeServed(settings.dataDir, { url: server.url, pid: process.pid });
  return {
    url: server.url,
    port: server.port,
    async stop() {
      removeServed(settings.dataDir, process.pid);
      await gateway.stop(settings.graceMs === undefined ? {} : { graceMs: settings.graceMs });
      await server.close();
    },
  };
}

/** Where processes of this machine reach a server: one that listens everywhere is reached at loopback too. */
function localUrl(host: string, port: number): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
