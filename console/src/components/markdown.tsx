import { lexer, type Token, type Tokens } from "marked";
import { memo, useMemo, type ReactNode } from "react";
import remend from "remend";
import { CodeBlock } from "./code-block.tsx";
import { decodeEntities } from "./entities.ts";
import classes from "./markdown.module.css";
import { RemoteImage } from "./remote-image.tsx";
import { SafeLink, textWithIds } from "./safe-link.tsx";

/**
 * Markdown (CommonMark with GitHub's tables, lists of tasks and strikethrough) as React elements. Nothing is ever
 * taken as HTML: it is shown as the text that it is. Images are not loaded, links say where they lead.
 *
 * While a text streams, what is still open (a `**`, a fence, a link) is closed for showing, and only the blocks that
 * changed are made anew.
 */
export const Markdown = memo(function Markdown({ text, open = false }: { text: string; open?: boolean }) {
  const blocks = useMemo(() => lexer(open ? remend(text) : text, { gfm: true, breaks: true }), [text, open]);
  return (
    <div className={classes["markdown"]} dir="auto">
      {blocks.map((token, index) => (
        <Block key={index} token={token} raw={token.raw} />
      ))}
    </div>
  );
});

/** Equal text is an equal block. */
const Block = memo(
  ({ token }: { token: Token; raw: string }) => block(token, 0),
  (before, after) => before.raw === after.raw && before.token.type === after.token.type,
);

function blocksOf(tokens: readonly Token[] | undefined): ReactNode {
  return (tokens ?? []).map((token, index) => block(token, index));
}

function block(token: Token, key: number): ReactNode {
  switch (token.type) {
    case "heading":
      return <Heading key={key} token={token as Tokens.Heading} />;
    case "paragraph":
      return (
        <p key={key} dir="auto">
          {inlineOf(token.tokens)}
        </p>
      );
    case "code":
      return (
        <CodeBlock key={key} code={(token as Tokens.Code).text} language={(token as Tokens.Code).lang} />
      );
    case "blockquote":
      return (
        <blockquote key={key} dir="auto">
          {blocksOf(token.tokens)}
        </blockquote>
      );
    case "list":
      return <List key={key} token={token as Tokens.List} />;
    case "table":
      return <Table key={key} token={token as Tokens.Table} />;
    case "hr":
      return <hr key={key} />;
    case "space":
    case "def":
      return null;
    case "html":
      return (
        <p key={key} dir="auto">
          {token.raw.trimEnd()}
        </p>
      );
    default:
      return <span key={key}>{inlineOf([token])}</span>;
  }
}

/** A message's headings are no headings of the page, whose outline is ours. */
function Heading({ token }: { token: Tokens.Heading }) {
  return (
    <p className={classes["heading"]} data-depth={token.depth} dir="auto">
      {inlineOf(token.tokens)}
    </p>
  );
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    <li key={index} dir="auto" className={item.task ? classes["task"] : undefined}>
      {item.task ? <input type="checkbox" checked={item.checked === true} readOnly tabIndex={-1} /> : null}
      {blocksOf(item.tokens.filter((one) => one.type !== "checkbox"))}
    </li>
  ));
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol start={token.start === "" ? 1 : token.start}>{items}</ol>;
}

function Table({ token }: { token: Tokens.Table }) {
  const cell = (Tag: "th" | "td", { tokens, align }: Tokens.TableCell, key: number) => (
    <Tag key={key} data-align={align ?? undefined} dir="auto">
      {inlineOf(tokens)}
    </Tag>
  );
  return (
    <div className={classes["table"]} tabIndex={0} role="region" aria-label="table">
      <table>
        <thead>
          <tr>{token.header.map((one, index) => cell("th", one, index))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{row.map((one, column) => cell("td", one, column))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlineOf(tokens: readonly Token[] | undefined): ReactNode {
  return (tokens ?? []).map((token, index) => inline(token, index));
}

function inline(token: Token, key: number): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inlineOf(token.tokens)}</strong>;
    case "em":
      return <em key={key}>{inlineOf(token.tokens)}</em>;
    case "del":
      return <del key={key}>{inlineOf(token.tokens)}</del>;
    case "codespan":
      return <code key={key}>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return (
        <SafeLink key={key} href={(token as Tokens.Link).href} text={(token as Tokens.Link).text}>
          {inlineOf(token.tokens)}
        </SafeLink>
      );
    case "image":
      return <RemoteImage key={key} src={(token as Tokens.Image).href} alt={(token as Tokens.Image).text} />;
    case "escape":
      return (token as Tokens.Escape).text;
    case "html":
      return token.raw;
    default: {
      const { tokens, text, raw } = token as Tokens.Text;
      if (tokens) return <span key={key}>{inlineOf(tokens)}</span>;
      return <span key={key}>{textWithIds(decodeEntities(text ?? raw))}</span>;
    }
  }
}
