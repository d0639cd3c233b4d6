import type { ReactNode } from "react";
import { useLanguage, useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { ErrorState, LoadingLines } from "../../components/states.tsx";
import { isLive } from "../../data/runs.ts";
import { useStory } from "../../data/story.ts";
import { useStream, viewOf } from "../../data/streams.ts";
import { senderName } from "../../components/names.ts";
import { RetryRun, StopRun } from "../../components/records/actions.tsx";
import { Bars } from "./bars.tsx";
import { Crumb } from "../../components/records/crumb.tsx";
import { PlaceLink } from "../../components/records/place-link.tsx";
import { reasonOf } from "../../components/records/reasons.ts";
import { RunFacts } from "./run-facts.tsx";
import classes from "../../components/records/record.module.css";
import { ProgressBar } from "../../components/records/run-row.tsx";
import { RunBadge, toneOfRun } from "../../components/records/state-badge.tsx";
import { answerOf, questionOf, textOf, type StoryRun } from "./story-parts.ts";
import type { WireStory } from "../../../../src/http/api.ts";
import { Clock, spanText, useNow } from "../../components/records/time.tsx";
import { Timeline } from "./timeline.tsx";
import { WhyHere } from "../../components/records/why-here.tsx";

/** A run and its story: who asked what where, what became of it, and the way it took. */
export function RunPage({ id }: { id: string }) {
  const t = useTexts();
  const story = useStory(id);
  const run = story.data?.runs.find((one) => one.id === id);
  if (!story.data || !run) {
    return (
      <>
        <PageHeader title={t("console.runs.run")} />
        {story.isError ? (
          <ErrorState error={story.error} retry={() => void story.refetch()} />
        ) : (
          <LoadingLines lines={8} />
        )}
      </>
    );
  }
  const answer = answerOf(story.data, run);
  return (
    <>
      <PageHeader
        title={
          <Crumb href="/runs" list={t("console.page.runs")}>
            {run.agent}
          </Crumb>
        }
        beside={<RunBadge state={run.state} />}
      >
        <StopRun run={run} />
        <RetryRun run={run} follow />
      </PageHeader>
      <div className={classes["page"]}>
        <div className={classes["main"]}>
          <Now run={run} />
          <Question story={story.data} run={run} />
          <Answer story={story.data} run={run} />
          {answer ? (
            <Section title={t("console.story.why_here")}>
              <WhyHere delivery={answer} />
            </Section>
          ) : null}
          <Section title={t("console.story.times")}>
            <Bars story={story.data} run={run} />
          </Section>
          <Section title={t("console.story.timeline")}>
            <Timeline story={story.data} run={run} />
          </Section>
        </div>
        <RunFacts story={story.data} run={run} />
      </div>
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes["section"]}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Where it is now, in one sentence. */
function Now({ run }: { run: StoryRun }) {
  const { t, locale } = useLanguage();
  const live = isLive(run.state);
  const now = useNow(live);
  const since = Date.parse(run.startedAt ?? run.createdAt);
  const detail = textOf(run.events.at(-1)?.data ?? null, "detail");
  const span = spanText(locale, (run.finishedAt === null ? now : Date.parse(run.finishedAt)) - since);
  return (
    <div className={classes["now"]} data-tone={toneOfRun(run.state)} role="status">
      <p>
        {t(`console.story.now.${run.state}`, { span })}
        {run.reason === null ? null : (
          <>
            {" "}
            <strong>{t("console.story.because", { reason: reasonOf(locale, run.reason) })}</strong>
          </>
        )}
      </p>
      {detail === null ? null : (
        <p className={classes["detail"]}>
          <code dir="auto">{detail}</code>
        </p>
      )}
      {live && run.progress !== null ? (
        <p className={classes["progress"]}>
          {run.progress.percent === null ? null : <ProgressBar percent={run.progress.percent} />}
          <span dir="auto">{run.progress.text}</span>
        </p>
      ) : null}
    </div>
  );
}

function Question({ story, run }: { story: WireStory; run: StoryRun }) {
  const t = useTexts();
  const name = senderName(t, run.sender);
  const question = questionOf(story, run);
  return (
    <article className={classes["said"]} aria-label={t("console.story.question")}>
      <Avatar name={name} />
      <div className={classes["words"]}>
        <p className={classes["head"]}>
          <span>
            <strong dir="auto">{name}</strong> {t("console.story.asked_in")}
          </span>
          <PlaceLink address={run.origin} />
          <Clock at={question?.at ?? run.createdAt} />
        </p>
        <Markdown text={run.text} />
      </div>
    </article>
  );
}

/** What was answered; while it is written, what there is of it. */
function Answer({ story, run }: { story: WireStory; run: StoryRun }) {
  const t = useTexts();
  const live = isLive(run.state);
  const followed = useStream(live ? run.stream : null);
  const answer = answerOf(story, run);
  const message = story.messages.find((one) => one.id === answer?.message);
  const parts = live ? (viewOf(followed, run.stream)?.parts ?? []) : [];
  const text = message?.text ?? parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (text === "" && live) return null;
  return (
    <article className={classes["said"]} aria-label={t("console.story.answer")} aria-busy={live}>
      <Avatar name={run.agent} agent />
      <div className={classes["words"]}>
        <p className={classes["head"]}>
          <span>
            <strong>{run.agent}</strong>{" "}
            {live
              ? t("console.story.writes_for")
              : answer?.receipts.length
                ? t("console.story.posted_in")
                : t("console.story.due_in")}
          </span>
          <PlaceLink address={answer?.address ?? run.replyTo} />
          {message ? <Clock at={message.at} /> : null}
        </p>
        {text === "" ? (
          <p className={classes["nothing"]}>{t("console.story.no_answer")}</p>
        ) : (
          <Markdown text={text} open={live} />
        )}
      </div>
    </article>
  );
}
