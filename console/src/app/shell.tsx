import { Drawer } from "@mantine/core";
import { useEffect, useMemo, useState, type ComponentType, type ReactNode } from "react";
import { useLocation } from "wouter";
import { useTexts } from "./language.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { Notices } from "./notices.tsx";
import { Palette } from "./palette.tsx";
import { Rail } from "./rail.tsx";
import classes from "./shell.module.css";
import { ShellContext, type ShellControls } from "./shell-controls.ts";
import { usePageShortcuts } from "./use-page-shortcuts.ts";

/** Navigation, a panel, and the page; on a narrow screen the first two are in a drawer. */
export function Shell({ side: Side, children }: { side: ComponentType | undefined; children: ReactNode }) {
  const t = useTexts();
  const [pathname] = useLocation();
  const [open, setOpen] = useState<"menu" | "palette" | "help" | null>(null);
  const controls = useMemo<ShellControls>(
    () => ({
      openMenu: () => setOpen("menu"),
      openPalette: () => setOpen("palette"),
      openHelp: () => setOpen("help"),
    }),
    [],
  );
  useEffect(() => setOpen((now) => (now === "menu" ? null : now)), [pathname]);
  usePageShortcuts(controls);
  const close = (): void => setOpen(null);
  return (
    <ShellContext value={controls}>
      <a className={classes["skip"]} href="#main">
        {t("console.skip")}
      </a>
      <div className={classes["shell"]} data-side={Side !== undefined}>
        <div className={classes["rail"]}>
          <Rail />
        </div>
        {Side ? (
          <aside className={classes["side"]} aria-label={t("console.side")}>
            <Side />
          </aside>
        ) : null}
        <main id="main" className={classes["main"]} tabIndex={-1}>
          <Notices />
          {children}
        </main>
      </div>
      <Drawer
        opened={open === "menu"}
        onClose={close}
        size="20rem"
        padding={0}
        withCloseButton={false}
        attributes={{ content: { "aria-label": t("console.menu") } }}
        classNames={{ body: classes["drawer"]!, content: classes["drawer-content"]! }}
      >
        <Rail wide />
        {Side ? <Side /> : null}
      </Drawer>
      {open === "palette" ? <Palette onClose={close} /> : null}
      {open === "help" ? <HelpDialog onClose={close} /> : null}
    </ShellContext>
  );
}
