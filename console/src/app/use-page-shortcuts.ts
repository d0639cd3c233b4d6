import { useEffect } from "react";
import { useLocation } from "wouter";
import { hasModifier, isTyping } from "./keys.ts";
import { pages } from "./pages.ts";
import type { ShellControls } from "./shell-controls.ts";

/** Keys that work on every page; help-dialog.tsx documents them. */
export function usePageShortcuts(controls: ShellControls): void {
  const [, navigate] = useLocation();
  useEffect(() => {
    let afterG = 0;
    const onKey = (event: KeyboardEvent): void => {
      if (event.isComposing) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        controls.openPalette();
        return;
      }
      if (hasModifier(event) || isTyping(event)) return;
      if (event.key === "?") controls.openHelp();
      const page = event.timeStamp - afterG < 1_500 ? pages.find(({ key }) => key === event.key) : undefined;
      afterG = event.key === "g" && !page ? event.timeStamp : 0;
      if (page) navigate(page.path);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [controls, navigate]);
}
