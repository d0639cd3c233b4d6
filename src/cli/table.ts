/** A column of a table. `least` characters stay whatever happens; one column may take what is left over. */
export interface Column<T> {
  title: string;
  text(row: T): string;
  /** Cut with … where the line is too long; without it the column is always whole. */
  cut?: boolean;
}

/** Control and format characters would move the cursor or forge lines: what people wrote is shown without them. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}

/**
 * The columns that a text takes in a terminal: East Asian wide characters and pictures take two (Unicode TR11, roughly).
 */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += isWide(char.codePointAt(0) ?? 0) ? 2 : /\p{M}/u.test(char) ? 0 : 1;
  return width;
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}

/** The text in at most `width` columns, with … where it was cut. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let out = "";
  let used = 0;
  for (const char of text) {
    const more = widthOf(char);
    if (used + more > width - 1) break;
    out += char;
    used += more;
  }
  return `${out}…`;
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Lines of a table that fit `width` columns; what may be cut shares what is left over. */
export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[], width: number): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))));
  const titles = columns.map((column) => column.title);
  const natural = columns.map((_, i) =>
    Math.max(...[titles, ...cells].map((line) => widthOf(line[i] ?? ""))),
  );
  const gaps = 2 * (columns.length - 1);
  const whole = columns.reduce((sum, column, i) => sum + (column.cut ? 0 : (natural[i] ?? 0)), gaps);
  let room = width - whole;
  let waiting = columns.filter((column) => column.cut).length;
  const widths = columns.map((column, i) => {
    const wanted = natural[i] ?? 0;
    if (!column.cut) return wanted;
    // Each takes its fair share; what a short one leaves goes to the next.
    const share = Math.max(4, Math.min(wanted, Math.floor(room / waiting)));
    waiting -= 1;
    room -= share;
    return share;
  });
  return [titles, ...cells].map((line) =>
    line
      .map((text, i) => pad(cutTo(text, widths[i] ?? 0), i === columns.length - 1 ? 0 : (widths[i] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

/** `name  value` lines; a value that is too long goes on below itself. Rows without a value are left out. */
export function renderFields(fields: readonly (readonly [string, string | null])[], width: number): string[] {
  const shown = fields.filter(
    (field): field is readonly [string, string] => field[1] !== null && field[1] !== "",
  );
  const left = Math.max(0, ...shown.map(([name]) => widthOf(name)));
  return shown.flatMap(([name, value]) =>
    wrapText(oneLine(value), Math.max(20, width - left - 2)).map(
      (line, i) => `${pad(i === 0 ? name : "", left)}  ${line}`,
    ),
  );
}

/** A text in lines of at most `width` columns, broken at spaces where there are any. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    let rest = word;
    if (line !== "" && widthOf(line) + 1 + widthOf(rest) > width) {
      lines.push(line);
      line = "";
    }
    while (widthOf(rest) > width) {
      let head = "";
      for (const char of rest) {
        if (widthOf(head) + widthOf(char) > width) break;
        head += char;
      }
      lines.push(head);
      rest = rest.slice(head.length);
    }
    line = line === "" ? rest : `${line} ${rest}`;
  }
  return [...lines, line];
}
