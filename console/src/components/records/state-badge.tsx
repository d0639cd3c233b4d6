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
import type { WireDeliveryState, WireRunState } from "../../../../src/http/api.ts";
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
