import { Button } from "@mantine/core";
import { useRef, type ReactNode } from "react";
import { useTexts } from "../../app/language.tsx";
import classes from "./table.module.css";
import { useRowKeys } from "./use-row-keys.ts";

/** A list with columns; on a narrow screen each row is a card. Roles are said, since the layout is no table's. */
export function Table(props: {
  label: string;
  columns: readonly string[];
  kind: string;
  children: ReactNode;
}) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div ref={list} className={classes["table"]} role="table" aria-label={props.label} data-kind={props.kind}>
      <div role="rowgroup" className={classes["head"]}>
        <div role="row" className={classes["row"]}>
          {props.columns.map((column) => (
            <span role="columnheader" key={column}>
              {column}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup">{props.children}</div>
    </div>
  );
}

export function Row({ children }: { children: ReactNode }) {
  return (
    <div role="row" className={`${classes["row"]} ${classes["body"]}`}>
      {children}
    </div>
  );
}

export function Cell({ name, children }: { name: string; children?: ReactNode }) {
  return (
    <div role="cell" className={classes["cell"]} data-cell={name}>
      {children}
    </div>
  );
}

/** How many are shown, and the way to older ones. */
export function ListEnd(props: { text: string; more: boolean; busy: boolean; onMore: () => void }) {
  const t = useTexts();
  return (
    <div className={classes["end"]}>
      <span>{props.text}</span>
      {props.more ? (
        <Button size="compact-sm" variant="default" loading={props.busy} onClick={props.onMore}>
          {t("console.runs.older")}
        </Button>
      ) : null}
    </div>
  );
}
