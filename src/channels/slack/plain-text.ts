/** The text as it is, with what Slack would take for its own markup written as entities. */
export function plainPost(text: string): { text: string } {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return { text: escaped };
}
