import type { BrowserContext, Page } from "playwright-core";

/**
 * Counts what reaches the pages of a browser: the text deltas of every stream that they read, as they come over the
 * network and before the page has seen them.
 */
export async function countDeltas(context: BrowserContext): Promise<(page: Page) => Promise<string[]>> {
  await context.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seenDeltas: seen });
    const plain = window.fetch;
    window.fetch = async (input, init) => {
      const response = await plain(input, init);
      if (typeof input === "string" && input.includes("/v1/stream/")) void note(response.clone());
      return response;
    };
    async function note(response: Response): Promise<void> {
      const reader = response.body!.pipeThrough(new TextDecoderStream() as never).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read().catch(() => ({ done: true, value: "" }));
        if (done) break;
        rest += String(value);
        const lines = rest.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          for (const [, delta] of line.matchAll(/"type":"text-delta"[^}]*?"delta":"((?:[^"\\]|\\.)*)"/g)) {
            seen.push(JSON.parse(`"${delta}"`) as string);
          }
        }
      }
    }
  });
  return (page) => page.evaluate(() => (window as never as { seenDeltas: string[] }).seenDeltas);
}
