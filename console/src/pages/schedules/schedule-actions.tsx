import { useMutation } from "@tanstack/react-query";
import { Pause, Play, Zap } from "lucide-react";
import { useState } from "react";
import type { WireSchedule } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { announce } from "../../components/live-region.tsx";
import { refreshAll } from "../../components/records/actions.tsx";
import { Confirm } from "../../components/records/confirm.tsx";
import { SmallButton } from "../../components/records/small-button.tsx";
import { changeSchedule, fireSchedule } from "../../data/schedules.ts";

/** Fires a schedule before its time, once somebody has said that they mean it: people see what comes of it. */
export function FireNow({ schedule }: { schedule: WireSchedule }) {
  const t = useTexts();
  const [asking, setAsking] = useState(false);
  const { id, state, cron, text } = schedule;
  const fire = useMutation({
    mutationFn: () => fireSchedule(id),
    onSuccess: () => announce(t("console.schedules.fired")),
    onSettled: refreshAll,
  });
  if (state !== "active") return null;
  return (
    <>
      <SmallButton
        text={t("console.schedules.fire")}
        label={t("console.schedules.fire_named", { id })}
        icon={<Zap size={13} aria-hidden />}
        busy={fire.isPending}
        error={fire.error}
        onClick={() => setAsking(true)}
      />
      <Confirm
        opened={asking}
        title={t("console.schedules.fire_title", { id })}
        quote={text}
        about={t(cron === null ? "console.schedules.fire_once" : "console.schedules.fire_about")}
        yes={t("console.schedules.fire")}
        no={t("console.schedules.fire_not")}
        onClose={() => setAsking(false)}
        onYes={() => fire.mutate()}
      />
    </>
  );
}

/** Lets a schedule come no more for now, or again. Nothing for one that has ended. */
export function ChangeState({ schedule: { id, state } }: { schedule: WireSchedule }) {
  const t = useTexts();
  const isActive = state === "active";
  const change = useMutation({
    mutationFn: () => changeSchedule(id, { state: isActive ? "disabled" : "active" }),
    onSuccess: () => announce(t("console.schedules.changed")),
    onSettled: refreshAll,
  });
  if (!isActive && state !== "disabled") return null;
  return (
    <SmallButton
      text={t(isActive ? "console.schedules.disable" : "console.schedules.enable")}
      label={t(isActive ? "console.schedules.disable_named" : "console.schedules.enable_named", { id })}
      icon={isActive ? <Pause size={13} aria-hidden /> : <Play size={13} aria-hidden />}
      busy={change.isPending}
      error={change.error}
      onClick={() => change.mutate()}
    />
  );
}
