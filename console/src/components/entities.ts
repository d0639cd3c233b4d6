/** Character references (HTML, 13.5) of Markdown text as the characters that they mean; unknown ones stay. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z][a-z0-9]{1,31}));/gi,
    (whole, hex, dec, name) => {
      if (name !== undefined) return named(whole);
      const point = Number.parseInt((hex ?? dec) as string, hex === undefined ? 10 : 16);
      return point > 0 && point <= 0x10_ff_ff && !(point >= 0xd8_00 && point <= 0xdf_ff)
        ? String.fromCodePoint(point)
        : "\uFFFD";
    },
  );
}

const common: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&nbsp;": "\u00A0",
};

let area: HTMLTextAreaElement | null = null;

/** The browser knows all names. What is in a textarea is text and never becomes an element. */
function named(reference: string): string {
  const known = common[reference];
  if (known !== undefined) return known;
  if (typeof document === "undefined") return reference;
  area ??= document.createElement("textarea");
  area.innerHTML = reference;
  return area.value;
}
