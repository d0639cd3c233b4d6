import {
  Ban,
  CheckCheck,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CirclePause,
  CircleSlash,
  CircleX,
  Hourglass,
  LoaderCircle,
  PowerOff,
  Send,
  Undo2,
  type LucideIcon,
} from "lucide-react";
import type { WireChannel, WireDeliveryState, WireRunState, WireSchedule } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import classes from "./state-badge.module.css";

export type Tone = "quiet" | "live" | "good" | "warn" | "bad";

const runs: Record<WireRunState, { icon: LucideIcon; tone: Tone }> = {
  staged: { icon: CircleDashed, tone: "quiet" },
  queued: { icon: CircleDashed, tone: "quiet" },
  running: { icon: LoaderCircle, tone: "live" },
  waiting: { icon: Hourglass, tone: "warn" },
  completed: { icon: CircleCheck, tone: "good" },
  failed: { icon: CircleX, tone: "bad" },
  cancelled: { icon: CircleSlash, tone: "quiet" },
  interrupted: { icon: PowerOff, tone: "bad" },
};

const deliveries: Record<WireDeliveryState, { icon: LucideIcon; tone: Tone }> = {
  pending: { icon: CircleDashed, tone: "quiet" },
  sending: { icon: Send, tone: "live" },
  delivered: { icon: CheckCheck, tone: "good" },
  unknown: { icon: CircleHelp, tone: "warn" },
  blocked: { icon: Ban, tone: "bad" },
  held: { icon: CirclePause, tone: "warn" },
  dead: { icon: CircleX, tone: "bad" },
  withdrawn: { icon: Undo2, tone: "quiet" },
};

const schedules: Record<WireSchedule["state"] | "incomplete", { icon: LucideIcon; tone: Tone }> = {
  active: { icon: CircleCheck, tone: "good" },
  incomplete: { icon: CirclePause, tone: "warn" },
  disabled: { icon: CircleSlash, tone: "quiet" },
  done: { icon: CheckCheck, tone: "quiet" },
  removed: { icon: CircleDashed, tone: "quiet" },
};

const channels: Record<WireChannel["state"], { icon: LucideIcon; tone: Tone }> = {
  on: { icon: CircleCheck, tone: "good" },
  connecting: { icon: LoaderCircle, tone: "live" },
  "standing-by": { icon: CirclePause, tone: "warn" },
  off: { icon: PowerOff, tone: "bad" },
};

export function toneOfRun(state: WireRunState): Tone {
  return runs[state].tone;
}

export function toneOfDelivery(state: WireDeliveryState): Tone {
  return deliveries[state].tone;
}

/** A state in a word, with a sign of its own, so that it needs no colour. */
function Badge({ icon: Icon, tone, text }: { icon: LucideIcon; tone: Tone; text: string }) {
  return (
    <span className={classes["badge"]} data-tone={tone}>
      <Icon size={14} aria-hidden />
      {text}
    </span>
  );
}

export function RunBadge({ state }: { state: WireRunState }) {
  const t = useTexts();
  return <Badge {...runs[state]} text={t(`console.runs.state.${state}`)} />;
}

export function DeliveryBadge({ state }: { state: WireDeliveryState }) {
  const t = useTexts();
  return <Badge {...deliveries[state]} text={t(`console.deliveries.state.${state}`)} />;
}

/** `incomplete`: it is active, but what it says would be held. */
export function ScheduleBadge({ schedule }: { schedule: WireSchedule }) {
  const t = useTexts();
  const isHeld = schedule.state === "active" && schedule.incomplete !== null;
  const state = isHeld ? "incomplete" : schedule.state;
  return <Badge {...schedules[state]} text={t(`console.schedules.state.${state}`)} />;
}

export function ChannelBadge({ state }: { state: WireChannel["state"] }) {
  const t = useTexts();
  const key = state === "standing-by" ? "standing_by" : state;
  return <Badge {...channels[state]} text={t(`console.channels.state.${key}`)} />;
}
