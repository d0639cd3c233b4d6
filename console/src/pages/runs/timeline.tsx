import type { WireStory } from "../../../../src/http/api.ts";
import { useLanguage } from "../../app/language.tsx";
import { isLive } from "../../data/runs.ts";
import type { StoryRun } from "./story-parts.ts";
import classes from "./timeline.module.css";
import { stepsOf, type Step } from "./timeline-steps.tsx";
import { Clock, spanText, useNow } from "../../components/records/time.tsx";

/** What happened to a run, in order, with the time between; while it goes on the last line says for how long. */
export function Timeline({ story, run }: { story: WireStory; run: StoryRun }) {
  const { t, locale } = useLanguage();
  const steps = stepsOf(t, locale, story, run);
  const last = steps.at(-1);
  return (
    <ol className={classes["timeline"]} aria-label={t("console.story.timeline")}>
      {steps.map((step, index) => (
        <Item key={step.key} step={step} before={steps[index - 1]} />
      ))}
      {isLive(run.state) && last ? <Going since={last.at} /> : null}
    </ol>
  );
}

function Item({ step, before }: { step: Step; before: Step | undefined }) {
  const { locale } = useLanguage();
  const { icon: Icon } = step;
  const gap = before ? Date.parse(step.at) - Date.parse(before.at) : 0;
  return (
    <li data-tone={step.tone} data-kind={step.kind}>
      <span className={classes["mark"]}>
        <Icon size={14} aria-hidden />
      </span>
      <div className={classes["what"]}>
        <div className={classes["title"]}>{step.title}</div>
        {step.detail ? <div className={classes["detail"]}>{step.detail}</div> : null}
      </div>
      <div className={classes["when"]}>
        <Clock at={step.at} />
        {gap > 0 ? <small>+{spanText(locale, gap)}</small> : null}
      </div>
    </li>
  );
}

function Going({ since }: { since: string }) {
  const { t, locale } = useLanguage();
  const now = useNow();
  return (
    <li data-tone="live" data-kind="now">
      <span className={classes["mark"]}>
        <span className={classes["pulse"]} />
      </span>
      <div className={classes["what"]}>
        <div className={classes["title"]}>
          {t("console.story.going", { span: spanText(locale, now - Date.parse(since)) })}
        </div>
      </div>
    </li>
  );
}
