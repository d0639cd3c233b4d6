import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { useTexts } from "../../app/language.tsx";
import { ApiError } from "../../data/api.ts";
import classes from "./actions.module.css";

/** What one can do with a row or a record, and why it did not work if it did not. */
export function SmallButton(props: {
  text: string;
  /** Says also of what, where the text alone would be one of many. */
  label?: string;
  icon?: ReactNode;
  busy?: boolean;
  disabled?: boolean;
  error?: unknown;
  onClick: () => void;
}) {
  const { text, label, icon, busy = false, disabled = false, error, onClick } = props;
  return (
    <span className={classes["action"]}>
      <Button
        size="compact-sm"
        fw={500}
        variant="default"
        leftSection={icon}
        loading={busy}
        disabled={disabled}
        {...(label === undefined ? {} : { "aria-label": label })}
        onClick={onClick}
      >
        {text}
      </Button>
      <Failure error={error} />
    </span>
  );
}

/** What the server said against something that was asked of it. */
export function Failure({ error }: { error: unknown }) {
  const t = useTexts();
  if (!error) return null;
  const detail = error instanceof ApiError ? error.problem.detail : undefined;
  return (
    <span role="alert" className={classes["failure"]} dir="auto">
      {detail ?? t("console.error.title")}
    </span>
  );
}
