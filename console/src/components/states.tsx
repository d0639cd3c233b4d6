import { Button } from "@mantine/core";
import { CloudOff, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { useTexts } from "../app/language.tsx";
import { ApiError } from "../data/api.ts";
import classes from "./states.module.css";

/** A place where there is nothing yet: what it is for, and what to do. */
export function EmptyState(props: { icon: LucideIcon; title: string; children?: ReactNode }) {
  const { icon: Icon, title, children } = props;
  return (
    <div className={classes["state"]}>
      <Icon size={36} strokeWidth={1.25} aria-hidden />
      <p className={classes["title"]}>{title}</p>
      {children}
    </div>
  );
}

/** What went wrong with something that was asked, in words that the server gave where it gave any. */
export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useTexts();
  const unreachable = error instanceof ApiError && error.status === 0;
  return (
    <div className={classes["state"]} role="alert">
      <CloudOff size={36} strokeWidth={1.25} aria-hidden />
      <p className={classes["title"]}>
        {unreachable ? t("console.error.unreachable") : t("console.error.title")}
      </p>
      {error instanceof ApiError && error.problem.detail ? (
        <p className={classes["detail"]} dir="auto">
          {error.problem.detail}
        </p>
      ) : null}
      {retry ? (
        <Button variant="default" onClick={retry}>
          {t("console.retry")}
        </Button>
      ) : null}
    </div>
  );
}

/** Lines where text will be. */
export function LoadingLines({ lines = 5 }: { lines?: number }) {
  const t = useTexts();
  return (
    <div className={classes["loading"]} role="status" aria-label={t("console.loading")}>
      {Array.from({ length: lines }, (_line, index) => (
        <span key={index} data-line={index % 4} />
      ))}
    </div>
  );
}
