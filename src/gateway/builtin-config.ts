import { agent } from "../agents/agent-factory.ts";
import { guideAgents } from "../agents/guide/guide-agents.ts";
import { resolveModel } from "../agents/model/resolve-model.ts";
import { systemClock } from "../kernel/clock.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { Env, ServerSettings } from "./environment.ts";
import type { WaybillConfig } from "./settings.ts";

const instructions =
  "You are a helpful assistant in a team's chat. Answer briefly and in the language of the message.";

/**
 * The settings where there is no settings file: the built-in guide, or the model that `WAYBILL_MODEL` names. The model's
 * agent stands beside the guide, which is then reached as `guide`.
 * @throws WaybillError `config_invalid`, `missing_package` about the model
 */
export async function builtinConfig(
  settings: Pick<ServerSettings, "model" | "modelUrl">,
  env: Env,
): Promise<WaybillConfig> {
  const guide = guideAgents({ clock: systemClock });
  if (settings.model === undefined) return { agents: { ...guide } };
  const model = await resolveModel(settings.model, { baseUrl: settings.modelUrl, env });
  return { agents: { assistant: agent.model({ model, instructions }), ...guide } };
}

/**
 * Which of these models (`provider/model`) would find no key in their provider's usual variable, with that variable.
 * Models of unknown providers, or whose package is not installed, are left out: nothing can be said about them.
 */
export async function missingModelKeys(models: readonly string[], env: Env): Promise<Map<string, string>> {
  const missing = new Map<string, string>();
  for (const model of models) {
    try {
      await resolveModel(model, { env });
    } catch (thrown) {
      const field = thrown instanceof WaybillError ? thrown.details["field"] : undefined;
      if (typeof field === "string" && field.endsWith("_API_KEY")) missing.set(model, field);
    }
  }
  return missing;
}
