import { useMutation } from "@tanstack/react-query";
import { MapPin, RotateCcw, Square } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { WireDelivery, WireRun } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { isRetryable, retryDelivery } from "../../data/deliveries.ts";
import { refreshSoon } from "../../data/runs-refresh.ts";
import { cancelRun, isLive, retryRun } from "../../data/runs.ts";
import { announce } from "../live-region.tsx";
import classes from "./actions.module.css";
import { Confirm } from "./confirm.tsx";
import { PlaceDialog } from "./place-dialog.tsx";
import { SmallButton } from "./small-button.tsx";

const touched = ["runs", "run", "deliveries", "delivery", "story", "stuck", "schedules"];

/** What was done here is seen here, also where no feed is open. */
export function refreshAll(): void {
  for (const key of touched) refreshSoon([key]);
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
  return (
    <>
      <SmallButton
        text={t("console.runs.stop")}
        label={t("console.runs.stop_named", { agent: run.agent })}
        icon={<Square size={12} fill="currentColor" aria-hidden />}
        busy={stop.isPending}
        disabled={stop.isSuccess}
        error={stop.error}
        onClick={() => setAsking(true)}
      />
      <Confirm
        opened={asking}
        title={t("console.runs.stop_title", { agent: run.agent })}
        quote={run.text}
        about={t("console.runs.stop_about")}
        yes={t("console.runs.stop_yes")}
        no={t("console.runs.stop_not")}
        danger
        onClose={() => setAsking(false)}
        onYes={() => stop.mutate()}
      />
    </>
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
    <SmallButton
      text={t("console.runs.retry")}
      label={t("console.runs.retry_named", { agent: run.agent })}
      icon={<RotateCcw size={13} aria-hidden />}
      busy={retry.isPending}
      error={retry.error}
      onClick={() => retry.mutate()}
    />
  );
}

/** Sends again what was given up, blocked, held, or is not known; what has no place is asked for one. */
export function RetryDelivery({ delivery }: { delivery: WireDelivery }) {
  const t = useTexts();
  const [asking, setAsking] = useState(false);
  const retry = useMutation({
    mutationFn: (to: string | undefined) => retryDelivery(delivery.id, to),
    onSuccess: () => announce(t("console.deliveries.retried")),
    onSettled: refreshAll,
  });
  if (!isRetryable(delivery.state)) return null;
  const lacksPlace = delivery.address === "";
  return (
    <>
      <SmallButton
        text={t(lacksPlace ? "console.place.ask" : "console.deliveries.retry")}
        icon={lacksPlace ? <MapPin size={13} aria-hidden /> : <RotateCcw size={13} aria-hidden />}
        busy={retry.isPending}
        error={retry.error}
        onClick={() => (lacksPlace ? setAsking(true) : retry.mutate(undefined))}
      />
      {asking ? (
        <PlaceDialog
          about={t("console.place.about_delivery")}
          onClose={() => setAsking(false)}
          onGive={(to) => retry.mutate(to)}
        />
      ) : null}
    </>
  );
}
