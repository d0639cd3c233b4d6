import { localeOf } from "../context.ts";
import { renderPage } from "../page/page.ts";
import type { HttpPorts } from "../ports.ts";
import type { Routes } from "../route.ts";

/** `/`: the page. It holds nothing but texts, so it is open; what it asks for is not. */
export function pageRoute({ app }: Routes, ports: HttpPorts): void {
  app.get("/", (c) => {
    const locale = localeOf(c, ports.locale);
    const { html, contentSecurityPolicy } = renderPage(locale);
    const headers = {
      ...c.get("headers"),
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      "content-language": locale,
      vary: "accept-language",
      "x-frame-options": "DENY",
    };
    return new Response(html, { headers });
  });
}
