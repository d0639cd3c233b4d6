import { Link } from "wouter";
import type { ReactNode } from "react";

/** Where a link may lead: pages and mail. Anything else (`javascript:`, a path of our own) is no link. */
export function safeUrl(href: string): URL | null {
  if (!/^(https?:\/\/|mailto:)/i.test(href) || !URL.canParse(href)) return null;
  return new URL(href);
}

/** What a reader should know of where a link leads: the host, or the address of a mail. */
function targetOf(url: URL): string {
  return url.protocol === "mailto:" ? url.pathname : url.host;
}

/**
 * A link that somebody wrote. It opens apart, tells the other side nothing of where it was clicked, and says where it
 * leads unless its own text does.
 * @param props.text what `children` say, where they are not one string
 */
export function SafeLink(props: { href: string; children: ReactNode; text?: string }) {
  const { href, children, text = typeof children === "string" ? children : "" } = props;
  const url = safeUrl(href);
  if (!url) return <span title={href}>{children}</span>;
  const target = targetOf(url);
  const said = text === target || text === url.href || text.startsWith(`${url.protocol}//${target}/`);
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href} dir="auto">
      {children}
      {said ? null : <span className="link-target"> ({target})</span>}
    </a>
  );
}

const ids = /\b(run|dlv)_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** Text in which the ids of runs and deliveries, shortened, lead to their pages. */
export function textWithIds(text: string): ReactNode {
  if (!text.includes("_")) return text;
  const pieces: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(ids)) {
    const [id, kind] = match;
    pieces.push(text.slice(from, match.index));
    pieces.push(
      <Link
        key={match.index}
        title={id}
        href={kind === "run" ? `/runs/${id}` : `/deliveries/${id}`}
        className="id-link"
      >
        {`${kind}_…${id.slice(-6)}`}
      </Link>,
    );
    from = match.index + id.length;
  }
  return pieces.length === 0 ? text : [...pieces, text.slice(from)];
}
