export const isMac = /mac|iphone|ipad/i.test(navigator.platform);

/** True where a letter is text that somebody types, and no shortcut. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return target?.closest("input, textarea, select, [contenteditable], [role=menu]") instanceof Element;
}

export function hasModifier(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}
