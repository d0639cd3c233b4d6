import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { httpGateway } from "../../../test/support/http-gateway.ts";
import { agent } from "../../agents/agent-factory.ts";
import { renderPage } from "./page.ts";

const config = { agents: { echo: agent.fn(async (ctx) => `You said: ${ctx.text}`) } };

test("the page speaks the reader's language, and is open although the API asks for a token", async () => {
  const gateway = await httpGateway(config, { token: "secret", consoleDir: null });
  const read = async (language: string) => {
    const response = await gateway.call("/", { headers: { "accept-language": language } });
    expect(response.status).toBe(200);
    return response.text();
  };
  expect(await read("en")).toMatch(/<html lang="en">[\s\S]*Waybill puts agents where people talk/);
  expect(await read("ko")).toMatch(/<html lang="ko">[\s\S]*사람들이 대화하는 곳/);
});

test("it runs its own script and style and nothing else, and loads nothing", () => {
  for (const locale of ["en", "ko"] as const) {
    const { html, contentSecurityPolicy } = renderPage(locale);
    const blocks = [...html.matchAll(/<(?:script|style)>([\s\S]*?)<\/(?:script|style)>/g)];
    expect(blocks).toHaveLength(2);
    for (const [, text] of blocks) {
      const hash = createHash("sha256").update(text!).digest("base64");
      expect(contentSecurityPolicy).toContain(`'sha256-${hash}'`);
    }
    expect(contentSecurityPolicy).toMatch(/^default-src 'none';/);
    expect(html).not.toMatch(/(?:src|href)="(?!\/|data:)/);
  }
});

test("its script is JavaScript", () => {
  const script = /<script>([\s\S]*)<\/script>/.exec(renderPage("en").html)?.[1] ?? "";
  // oxlint-disable-next-line typescript/no-implied-eval
  expect(() => new Function(script)).not.toThrow();
});
