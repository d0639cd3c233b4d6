import {
  Ban,
  BookmarkCheck,
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  CornerDownRight,
  Hand,
  Hourglass,
  ListChecks,
  MessageCircleQuestion,
  Milestone,
  Play,
  PowerOff,
  RotateCcw,
  ScanEye,
  Send,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";
import type { WireDelivery, WireRunEvent, WireStory } from "../../../../src/http/api.ts";
import type { Locale } from "../../../../src/texts/render.ts";
import type { Translate } from "../../app/language.tsx";
import { senderName } from "../../components/names.ts";
import { DeliveryStep } from "./delivery-step.tsx";
import { kindOf } from "../../components/records/delivery-names.ts";
import { PlaceLink } from "../../components/records/place-link.tsx";
import { reasonOf } from "../../components/records/reasons.ts";
import { IdLink, shortId } from "../../components/records/short-id.tsx";
import { RunBadge, toneOfDelivery, type Tone } from "../../components/records/state-badge.tsx";
import { deliveriesOf, questionOf, textOf, turnOf, type StoryRun } from "./story-parts.ts";

/** One line of a timeline. */
export interface Step {
  key: string;
  kind: string;
  at: string;
  icon: LucideIcon;
  tone: Tone;
  title: ReactNode;
  detail?: ReactNode;
}

interface Teller {
  t: Translate;
  locale: Locale;
  story: WireStory;
  run: StoryRun;
}

/** The story of one run in steps, oldest first: the question, its events, and what was posted for it. */
export function stepsOf(t: Translate, locale: Locale, story: WireStory, run: StoryRun): Step[] {
  const teller = { t, locale, story, run };
  const told = new Set<string>();
  const steps: Step[] = [];
  for (const event of run.events) {
    const delivery = story.deliveries.find(({ id }) => id === textOf(event.data, "delivery"));
    if (delivery && event.kind !== "preview") {
      told.add(delivery.id);
      steps.push({ ...deliveryStep(teller, delivery), at: event.at });
    } else if (event.kind === "progress" && steps.at(-1)?.kind === "progress") {
      continue;
    } else {
      steps.push(eventStep(teller, event));
    }
  }
  const posts = deliveriesOf(story, run).filter(({ id }) => !told.has(id));
  steps.push(...posts.map((delivery) => deliveryStep(teller, delivery)));
  // Events of one moment stay in their order.
  const inOrder = steps.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return [questionStep(teller), ...inOrder];
}

function questionStep({ t, story, run }: Teller): Step {
  const turn = turnOf(story, run);
  const cause = turn?.causedBy ?? null;
  const base = {
    key: "asked",
    kind: "asked",
    at: (cause === null ? questionOf(story, run)?.at : undefined) ?? turn?.createdAt ?? run.createdAt,
    icon: MessageCircleQuestion,
    tone: "quiet" as const,
  };
  if (cause !== null) {
    const again = cause !== run.parent;
    return {
      ...base,
      icon: again ? RotateCcw : CornerDownRight,
      title: (
        <>
          <span>{t(again ? "console.step.asked_again" : "console.step.asked_by_run")}</span>
          <IdLink id={cause} href={`/runs/${cause}`} />
        </>
      ),
    };
  }
  return {
    ...base,
    title: (
      <>
        <span dir="auto">{t("console.step.asked", { name: senderName(t, run.sender) })}</span>
        <PlaceLink address={run.origin} />
      </>
    ),
  };
}

function deliveryStep({ t, story }: Teller, delivery: WireDelivery): Step {
  const message = story.messages.find(({ id }) => id === delivery.message);
  return {
    key: delivery.id,
    kind: "delivery",
    at: delivery.createdAt,
    icon: Send,
    tone: toneOfDelivery(delivery.state),
    title: (
      <>
        <span>{t(`console.deliveries.kind.${kindOf(delivery.kind)}`)}</span>
        <PlaceLink address={delivery.address} />
      </>
    ),
    detail: <DeliveryStep delivery={delivery} text={delivery.kind === "final" ? undefined : message?.text} />,
  };
}

/** Each kind of event: its sign, its tone, its words. */
function eventStep(teller: Teller, event: WireRunEvent): Step {
  const { icon, tone } = looks[event.kind] ?? { icon: CircleDashed, tone: "quiet" as const };
  return {
    key: `event-${event.seq}`,
    kind: event.kind,
    at: event.at,
    icon,
    tone,
    ...wordsOf(teller, event),
  };
}

const looks: Readonly<Record<string, { icon: LucideIcon; tone: Tone }>> = {
  staged: { icon: CircleDashed, tone: "quiet" },
  queued: { icon: ListChecks, tone: "quiet" },
  released: { icon: BookmarkCheck, tone: "quiet" },
  claimed: { icon: Play, tone: "live" },
  progress: { icon: Milestone, tone: "live" },
  checkpoint: { icon: BookmarkCheck, tone: "quiet" },
  send_refused: { icon: Ban, tone: "bad" },
  preview: { icon: ScanEye, tone: "quiet" },
  abort_asked: { icon: Hand, tone: "warn" },
  steered: { icon: CornerDownRight, tone: "quiet" },
  waiting: { icon: Hourglass, tone: "warn" },
  resumed: { icon: Play, tone: "live" },
  completed: { icon: CircleCheck, tone: "good" },
  failed: { icon: CircleX, tone: "bad" },
  cancelled: { icon: CircleSlash, tone: "quiet" },
  interrupted: { icon: PowerOff, tone: "bad" },
  requeued: { icon: RotateCcw, tone: "warn" },
};

type Words = Pick<Step, "title" | "detail">;

function wordsOf(teller: Teller, event: WireRunEvent): Words {
  const { t, locale } = teller;
  const { data } = event;
  switch (event.kind) {
    case "staged":
      return stagedWords(teller, event);
    case "claimed":
      return {
        title: t("console.step.claimed", {
          node: shortId(textOf(data, "owner") ?? "?"),
          attempt: textOf(data, "attempt") ?? "1",
        }),
      };
    case "progress":
      return progressWords(teller, event);
    case "send_refused":
      return refusedWords(teller, event);
    case "abort_asked":
      return {
        title: t("console.step.abort_asked", {
          cause: reasonOf(locale, textOf(data, "reason") ?? textOf(data, "cause") ?? "other"),
        }),
      };
    case "steered":
      return linkWords(t("console.step.steered"), textOf(data, "from"));
    case "completed":
    case "failed":
    case "cancelled":
    case "interrupted":
      return endWords(teller, event);
    case "queued":
    case "released":
    case "checkpoint":
    case "preview":
    case "waiting":
    case "resumed":
    case "requeued":
      return { title: t(`console.step.${event.kind}`) };
    default:
      return { title: <code>{event.kind}</code> };
  }
}

function linkWords(text: string, run: string | null): Words {
  return {
    title: (
      <>
        <span>{text}</span>
        {run === null ? null : <IdLink id={run} href={`/runs/${run}`} />}
      </>
    ),
  };
}

/** `staged` with a job is said of the run that asked for it. */
function stagedWords({ t, story }: Teller, { data }: WireRunEvent): Words {
  const job = textOf(data, "job");
  if (job === null) return { title: t("console.step.staged") };
  const known = story.runs.find(({ id }) => id === job);
  return {
    title: (
      <>
        <span>{t("console.step.job", { agent: textOf(data, "agent") ?? "?" })}</span>
        <IdLink id={job} href={`/runs/${job}`} />
        {known ? <RunBadge state={known.state} /> : null}
      </>
    ),
  };
}

/** Steps of progress that follow one another are one line with the last of them; the others are a click away. */
function progressWords({ t, run }: Teller, event: WireRunEvent): Words {
  const from = run.events.indexOf(event);
  const end = run.events.findIndex(({ kind }, index) => index > from && kind !== "progress");
  const group = run.events.slice(from, end === -1 ? undefined : end);
  const text = ({ data }: WireRunEvent): string => {
    const percent = textOf(data, "percent");
    return `${textOf(data, "text") ?? ""}${percent === null ? "" : ` (${percent} %)`}`;
  };
  return {
    title: <span dir="auto">{text(group.at(-1) ?? event)}</span>,
    detail:
      group.length === 1 ? undefined : (
        <details>
          <summary>{t("console.step.progress_all", { count: group.length })}</summary>
          <ul>
            {group.map((one) => (
              <li key={one.seq} dir="auto">
                {text(one)}
              </li>
            ))}
          </ul>
        </details>
      ),
  };
}

function refusedWords({ t, locale }: Teller, { data }: WireRunEvent): Words {
  const use = textOf(data, "use");
  return {
    title: t("console.step.send_refused", { address: textOf(data, "address") ?? "?" }),
    detail: (
      <p>
        {t("console.story.because", { reason: reasonOf(locale, textOf(data, "reason") ?? "other") })}
        {use === null ? null : ` ${t("console.step.told_to_use", { address: use })}`}
      </p>
    ),
  };
}

function endWords({ t, locale }: Teller, { kind, data }: WireRunEvent): Words {
  const reason = textOf(data, "reason");
  const detail = textOf(data, "detail");
  const into = textOf(data, "into");
  const state = kind as "completed" | "failed" | "cancelled" | "interrupted";
  return {
    title: (
      <>
        <strong>{t(`console.runs.state.${state}`)}</strong>
        {reason === null ? null : <span>{reasonOf(locale, reason)}</span>}
        {into === null ? null : <IdLink id={into} href={`/runs/${into}`} />}
      </>
    ),
    detail: detail === null ? undefined : <code dir="auto">{detail}</code>,
  };
}
