import { Menu as MenuIcon } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../components/icon-button.tsx";
import { useTexts } from "./language.tsx";
import classes from "./page-header.module.css";
import { useShell } from "./shell-controls.ts";

/** The head of a page: its title, something beside it, and what can be done at the end of the line. */
export function PageHeader(props: { title: ReactNode; beside?: ReactNode; children?: ReactNode }) {
  const t = useTexts();
  const { openMenu } = useShell();
  return (
    <header className={classes["header"]}>
      <IconButton className={classes["menu"]!} label={t("console.menu")} onClick={openMenu}>
        <MenuIcon size={20} />
      </IconButton>
      <h1 className={classes["title"]} dir="auto">
        {props.title}
      </h1>
      <div className={classes["beside"]}>{props.beside}</div>
      <div className={classes["actions"]}>{props.children}</div>
    </header>
  );
}
