import type { WireStory } from "../../../../src/http/api.ts";
import { useLanguage } from "../../app/language.tsx";
import { isLive } from "../../data/runs.ts";
import classes from "./bars.module.css";
import { toneOfRun } from "../../components/records/state-badge.tsx";
import type { StoryRun } from "./story-parts.ts";
import { deliveriesOf } from "./story-parts.ts";
import { spanText, useNow } from "../../components/records/time.tsx";

/** Runs over time, one below the other: how long each waited, worked, and when it posted. The words say the same. */
export function Bars({ story, run }: { story: WireStory; run: StoryRun }) {
  const { t, locale } = useLanguage();
  const live = story.runs.some((one) => isLive(one.state));
  const now = useNow(live);
  const at = (text: string | null): number => (text === null ? now : Date.parse(text));
  const from = Math.min(...story.runs.map((one) => at(one.createdAt)));
  const to = Math.max(from + 1, ...story.runs.map((one) => at(one.finishedAt)));
  const x = (ms: number): number => ((ms - from) / (to - from)) * 100;
  return (
    <ul className={classes["bars"]}>
      {story.runs.map((one) => {
        const began = one.startedAt === null ? at(one.finishedAt) : at(one.startedAt);
        const ended = at(one.finishedAt);
        const waited = spanText(locale, began - at(one.createdAt));
        const worked = spanText(locale, ended - began);
        return (
          <li key={one.id} data-own={one.id === run.id}>
            <span className={classes["name"]}>{one.agent}</span>
            <svg className={classes["lane"]} aria-hidden="true" data-tone={toneOfRun(one.state)}>
              <rect className={classes["ground"]} width="100%" height="100%" rx="4" />
              <rect
                className={classes["waited"]}
                x={`${x(at(one.createdAt))}%`}
                width={`${Math.max(0, x(began) - x(at(one.createdAt)))}%`}
                height="100%"
                rx="3"
              />
              {one.startedAt === null ? null : (
                <rect
                  className={classes["worked"]}
                  x={`${Math.min(99, x(began))}%`}
                  width={`${Math.max(1, x(ended) - x(began))}%`}
                  height="100%"
                  rx="3"
                />
              )}
              {deliveriesOf(story, one).map((delivery) => (
                <circle
                  key={delivery.id}
                  className={classes["post"]}
                  cx={`${Math.min(99, Math.max(1, x(at(delivery.settledAt ?? delivery.createdAt))))}%`}
                  cy="50%"
                  r="4"
                />
              ))}
            </svg>
            <span className={classes["words"]}>
              {one.startedAt === null
                ? t("console.story.waited", { span: waited })
                : t("console.story.waited_worked", { waited, worked })}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
