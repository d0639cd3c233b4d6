import { createHash } from "node:crypto";
import { locales, renderText, type Locale } from "../../texts/render.ts";
import { pageScript } from "./page-script.ts";

/** A page and the headers that guard it. */
export interface Page {
  html: string;
  contentSecurityPolicy: string;
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 44rem; margin: 0 auto; padding: 1rem; min-height: 100vh; box-sizing: border-box;
  display: flex; flex-direction: column; gap: 1rem; background: light-dark(#fff, #16181c); color: light-dark(#1a1c20, #eceef1); }
h1 { margin: 0; font-size: 1.5rem; }
p { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
main { flex: 1; display: flex; flex-direction: column; gap: 1rem; }
#log { list-style: none; margin: 0; padding: 0; flex: 1; display: flex; flex-direction: column; gap: .5rem; }
#log li { padding: .5rem .75rem; border-radius: .5rem; background: light-dark(#f1f3f5, #24282e); }
#log li.user { background: light-dark(#dfeaff, #1d3557); }
form, .row { display: flex; gap: .5rem; align-items: end; flex-wrap: wrap; }
form[hidden] { display: none; }
label { display: flex; flex-direction: column; gap: .25rem; flex: 1; min-width: 14rem; }
textarea, input { font: inherit; padding: .5rem; border: 1px solid light-dark(#6b7280, #9aa1ab); border-radius: .375rem; }
button { font: inherit; padding: .5rem 1rem; border: 1px solid light-dark(#6b7280, #9aa1ab); border-radius: .375rem; cursor: pointer; }
button.first { background: light-dark(#1746a2, #8ab4ff); color: light-dark(#fff, #10131a); border-color: transparent; }
:focus-visible { outline: 3px solid light-dark(#1746a2, #8ab4ff); outline-offset: 2px; }
#state { min-height: 1.5em; }
a { color: light-dark(#1746a2, #8ab4ff); }
nav ul { display: flex; gap: 1rem; flex-wrap: wrap; padding: 0; margin: 0; list-style: none; }
`;

const pages = new Map<Locale, Page>();

/** The page that `/` answers until there is a console: what this is, and a chat that works. Nothing is loaded from elsewhere. */
export function renderPage(locale: Locale): Page {
  let page = pages.get(locale);
  if (!page) {
    page = { html: htmlOf(locale), contentSecurityPolicy: policy };
    pages.set(locale, page);
  }
  return page;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

const policy = [
  "default-src 'none'",
  `script-src ${hashOf(pageScript)}`,
  `style-src ${hashOf(style)}`,
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function htmlOf(locale: Locale): string {
  const t = (key: Parameters<typeof pageText>[1]): string => escape(pageText(locale, key));
  const texts = {
    address: "web:main/",
    you: pageText(locale, "you"),
    agent: pageText(locale, "agent"),
    working: pageText(locale, "working"),
    lost: pageText(locale, "lost"),
    refused: pageText(locale, "refused"),
    token_needed: pageText(locale, "token_needed"),
  };
  const other = locales.find((one) => one !== locale) ?? "en";
  const otherName = { en: "English", ko: "한국어" }[other];
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Waybill</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header><h1>Waybill</h1><p>${t("lead")}</p></header>
<main>
<h2>${t("conversation")}: <span id="conversation"></span></h2>
<ol id="log" aria-live="polite"></ol>
<p id="state" role="status"></p>
<form id="token-form" hidden><label>${t("token")}<input id="token" type="password" autocomplete="off" required></label><button>${t("token_use")}</button></form>
<form id="form"><label>${t("message")}<textarea id="message" rows="2" required></textarea></label>
<button class="first">${t("send")}</button><button type="button" id="stop">${t("stop")}</button></form>
</main>
<footer><nav aria-label="${t("links")}"><ul>
<li><a href="/openapi.json">${t("api")}</a></li><li><a href="/v1/runs">${t("runs")}</a></li><li><a href="/v1/deliveries">${t("deliveries")}</a></li>
<li><a href="/?locale=${other}" lang="${other}" hreflang="${other}">${otherName}</a></li>
</ul></nav></footer>
<script type="application/json" id="texts">${JSON.stringify(texts).replaceAll("<", "\\u003c")}</script>
<script>${pageScript}</script>
</body>
</html>
`;
}

type PageKey =
  | "lead"
  | "conversation"
  | "message"
  | "send"
  | "stop"
  | "you"
  | "agent"
  | "working"
  | "lost"
  | "refused"
  | "token"
  | "token_needed"
  | "token_use"
  | "links"
  | "api"
  | "runs"
  | "deliveries";

function pageText(locale: Locale, key: PageKey): string {
  return renderText(locale, `page.${key}`);
}
