import { checkChannels as ask } from "../../gateway/check-channels.ts";
import type { WaybillConfig } from "../../gateway/settings.ts";
import { fail, ok, type Finding } from "./check.ts";

/** The channels of the settings file, with what their platforms say of tokens and rights. */
export async function checkChannels(config: WaybillConfig): Promise<Finding[]> {
  const checked = await ask(config.channels ?? []);
  return [
    ok("channel", "web:main is set up"),
    ...checked.flatMap(({ kind, account, findings }) => {
      const name = `${kind}:${account}`;
      if (findings === null) return [ok("channel", `${name} is set up`)];
      return findings.map((finding) => {
        const text = `${name}: ${finding.text}`;
        return finding.ok
          ? ok("channel", text)
          : fail("channel", text, finding.fix ?? "Correct it, then run waybill doctor again.");
      });
    }),
  ];
}
