import { createContext, use } from "react";

/** What a page may open of the shell around it. */
export interface ShellControls {
  openMenu(): void;
  openPalette(): void;
  openHelp(): void;
}

export const ShellContext = createContext<ShellControls | null>(null);

/** The drawer, the palette and the help of the shell around a page. */
export function useShell(): ShellControls {
  const controls = use(ShellContext);
  if (!controls) throw new TypeError("There is no Shell around this component.");
  return controls;
}
