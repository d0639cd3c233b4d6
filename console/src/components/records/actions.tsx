import { Button, Modal } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { RotateCcw, Square } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { WireDelivery, WireRun } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { announce } from "../live-region.tsx";
import { ApiError } from "../../data/api.ts";
import { isRetryable, retryDelivery } from "../../data/deliveries.ts";
import { refreshSoon } from "../../data/runs-refresh.ts";
import { cancelRun, isLive, retryRun } from "../../data/runs.ts";
import classes from "./actions.module.css";

const touched = ["runs", "run", "deliveries", "delivery", "story", "stuck"];

/** What was done here is seen here, also where no feed is open. */
function refreshAll(): void {
  for (const key of touched) refreshSoon([key]);
}

function Failure({ error }: { error: unknown }) {
  const t = useTexts();
  if (!error) return null;
  const detail = error instanceof ApiError ? error.problem.detail : undefined;
  return (
    <span role="alert" className={classes["failure"]} dir="auto">
      {detail ?? t("console.error.title")}
    </span>
  );
}

/** Stops a run, once somebody has said that they mean it. Nothing where there is nothing to stop. */
export function StopRun({ run }: { run: WireRun }) {
  const t = useTexts();
  const [asking, setAsking] = useState(false);
  const stop = useMutation({
    mutationFn: () => cancelRun(run.id),
    onSuccess: () => announce(t("console.runs.stop_asked")),
    onSettled: refreshAll,
  });
  if (!isLive(run.state)) return null;
  const close = (): void => setAsking(false);
  return (
    <span className={classes["action"]}>
      <Button
        size="compact-sm"
        fw={500}
        variant="default"
        leftSection={<Square size={12} fill="currentColor" aria-hidden />}
        loading={stop.isPending}
        disabled={stop.isSuccess}
        aria-label={t("console.runs.stop_named", { agent: run.agent })}
        onClick={() => setAsking(true)}
      >
        {t("console.runs.stop")}
      </Button>
      <Failure error={stop.error} />
      <Modal
        opened={asking}
        onClose={close}
        transitionProps={{ duration: 0 }}
        title={t("console.runs.stop_title", { agent: run.agent })}
        closeButtonProps={{ "aria-label": t("console.close") }}
      >
        <blockquote className={classes["quote"]} dir="auto">
          {run.text}
        </blockquote>
        <p className={classes["about"]}>{t("console.runs.stop_about")}</p>
        <div className={classes["buttons"]}>
          <Button variant="default" onClick={close}>
            {t("console.runs.stop_not")}
          </Button>
          <Button
            data-autofocus
            className={classes["danger"]!}
            onClick={() => {
              close();
              stop.mutate();
            }}
          >
            {t("console.runs.stop_yes")}
          </Button>
        </div>
      </Modal>
    </span>
  );
}

/** Asks again what a run was asked that did not complete. With `follow` the page of the new run opens. */
export function RetryRun({ run, follow = false }: { run: WireRun; follow?: boolean }) {
  const t = useTexts();
  const [, navigate] = useLocation();
  const retry = useMutation({
    mutationFn: () => retryRun(run.id),
    onSuccess: ({ run: next }) => {
      announce(t("console.runs.retried"));
      if (follow && next !== null) navigate(`/runs/${next}`);
    },
    onSettled: refreshAll,
  });
  if (isLive(run.state) || run.state === "completed" || run.reason === "steered") return null;
  if (retry.data?.run) {
    return (
      <Link href={`/runs/${retry.data.run}`} className={classes["done"]}>
        {t("console.runs.retried")}
      </Link>
    );
  }
  return (
    <span className={classes["action"]}>
      <Button
        size="compact-sm"
        fw={500}
        variant="default"
        leftSection={<RotateCcw size={13} aria-hidden />}
        loading={retry.isPending}
        aria-label={t("console.runs.retry_named", { agent: run.agent })}
        onClick={() => retry.mutate()}
      >
        {t("console.runs.retry")}
      </Button>
      <Failure error={retry.error} />
    </span>
  );
}

/** Sends again what was given up, blocked, held, or is not known. */
export function RetryDelivery({ delivery }: { delivery: WireDelivery }) {
  const t = useTexts();
  const retry = useMutation({
    mutationFn: () => retryDelivery(delivery.id),
    onSuccess: () => announce(t("console.deliveries.retried")),
    onSettled: refreshAll,
  });
  if (!isRetryable(delivery.state)) return null;
  return (
    <span className={classes["action"]}>
      <Button
        size="compact-sm"
        fw={500}
        variant="default"
        leftSection={<RotateCcw size={13} aria-hidden />}
        loading={retry.isPending}
        onClick={() => retry.mutate()}
      >
        {t("console.deliveries.retry")}
      </Button>
      <Failure error={retry.error} />
    </span>
  );
}
