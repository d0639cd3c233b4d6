import { Link } from "wouter";
import type { WireStory } from "../../../../src/http/api.ts";
import { useLanguage, useTexts } from "../../app/language.tsx";
import { useNode } from "../../data/runs-list.ts";
import { useRun } from "../../data/runs.ts";
import { senderName } from "../../components/names.ts";
import { PlaceLink } from "../../components/records/place-link.tsx";
import { Fact, Facts } from "../../components/records/facts.tsx";
import classes from "../../components/records/facts.module.css";
import { CopyId, IdLink, shortId } from "../../components/records/short-id.tsx";
import { RunBadge } from "../../components/records/state-badge.tsx";
import { deliveriesOf, turnOf, type StoryRun } from "./story-parts.ts";
import { Clock, spanText } from "../../components/records/time.tsx";

/** What is known of a run besides its story. */
export function RunFacts({ story, run }: { story: WireStory; run: StoryRun }) {
  const t = useTexts();
  return (
    <aside className={classes["facts"]} aria-label={t("console.facts.title")}>
      <Who story={story} run={run} />
      <Family story={story} run={run} />
      <Use run={run} />
      <Ids run={run} />
    </aside>
  );
}

function Who({ story, run }: { story: WireStory; run: StoryRun }) {
  const t = useTexts();
  const { data: node } = useNode();
  const turn = turnOf(story, run);
  const account = turn?.sender?.principal ?? run.sender?.id ?? null;
  return (
    <Facts title={t("console.facts.who")}>
      <Fact name={t("console.facts.asked_by")}>
        <bdi>{senderName(t, run.sender)}</bdi>
        {account === null ? null : <small>{account}</small>}
      </Fact>
      <Fact name={t("console.facts.asked_in")}>
        <PlaceLink address={run.origin} />
      </Fact>
      <Fact name={t("console.facts.due_in")}>
        <PlaceLink address={run.replyTo} />
      </Fact>
      <Fact name={t("console.facts.posted_in")}>
        {run.postedIn === null ? t("console.facts.nowhere") : <PlaceLink address={run.postedIn} />}
      </Fact>
      <Fact name={t("console.facts.agent")}>
        <Link href={`/runs?agent=${encodeURIComponent(run.agent)}`}>{run.agent}</Link>
        <small>{t("console.facts.version", { version: run.agentVersion })}</small>
      </Fact>
      <Fact name={t("console.facts.attempts")}>{run.attempts}</Fact>
      {run.owner === null ? null : (
        <Fact name={t("console.facts.node")}>
          <code title={run.owner}>{shortId(run.owner)}</code>
          {node?.boot === run.owner ? <small>{t("console.facts.this_node")}</small> : null}
        </Fact>
      )}
      <Fact name={t("console.facts.recorded")}>
        <Clock at={run.createdAt} />
      </Fact>
      {run.finishedAt === null ? null : (
        <Fact name={t("console.facts.ended")}>
          <Clock at={run.finishedAt} />
        </Fact>
      )}
    </Facts>
  );
}

/** What asked for it, and what it asked for. */
function Family({ story, run }: { story: WireStory; run: StoryRun }) {
  const t = useTexts();
  const { data: parent } = useRun(run.parent);
  const cause = turnOf(story, run)?.causedBy ?? null;
  const again = cause !== null && cause !== run.parent && cause.startsWith("run_") ? cause : null;
  const jobs = story.runs.filter((one) => one.parent === run.id);
  const posts = deliveriesOf(story, run);
  return (
    <Facts title={t("console.facts.related")}>
      {run.parent === null ? null : (
        <Fact name={t("console.facts.parent")}>
          <IdLink id={run.parent} href={`/runs/${run.parent}`} />
          {parent ? <small>{parent.agent}</small> : null}
        </Fact>
      )}
      {again === null ? null : (
        <Fact name={t("console.facts.again")}>
          <IdLink id={again} href={`/runs/${again}`} />
        </Fact>
      )}
      {jobs.map((job) => (
        <Fact key={job.id} name={t("console.facts.job", { agent: job.agent })}>
          <IdLink id={job.id} href={`/runs/${job.id}`} /> <RunBadge state={job.state} />
        </Fact>
      ))}
      <Fact name={t("console.facts.deliveries")}>
        {posts.length === 0 ? (
          t("console.facts.none")
        ) : (
          <Link href={`/deliveries?run=${run.id}`}>
            {t("console.facts.delivery_count", { count: posts.length })}
          </Link>
        )}
      </Fact>
    </Facts>
  );
}

function Use({ run }: { run: StoryRun }) {
  const { t, locale } = useLanguage();
  const number = new Intl.NumberFormat(locale);
  const usage = Object.entries(run.usage ?? {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number",
  );
  const { tokens, steps, wallMs } = run.limits;
  const hasLimits = tokens !== undefined || steps !== undefined || wallMs !== undefined;
  return (
    <Facts title={t("console.facts.use")}>
      {usage.length === 0 ? <Fact name={t("console.facts.used")}>{t("console.facts.none")}</Fact> : null}
      {usage.map(([name, value]) => (
        <Fact key={name} name={name}>
          {number.format(value)}
        </Fact>
      ))}
      {hasLimits ? null : <Fact name={t("console.facts.limits")}>{t("console.facts.none")}</Fact>}
      {tokens === undefined ? null : (
        <Fact name={t("console.facts.limit_tokens")}>{number.format(tokens)}</Fact>
      )}
      {steps === undefined ? null : <Fact name={t("console.facts.limit_steps")}>{number.format(steps)}</Fact>}
      {wallMs === undefined ? null : (
        <Fact name={t("console.facts.limit_time")}>{spanText(locale, wallMs)}</Fact>
      )}
      {run.deadlineAt === null ? null : (
        <Fact name={t("console.facts.deadline")}>
          <Clock at={run.deadlineAt} />
        </Fact>
      )}
    </Facts>
  );
}

function Ids({ run }: { run: StoryRun }) {
  const t = useTexts();
  const ids = [
    { name: t("console.facts.id_run"), id: run.id },
    { name: t("console.facts.id_turn"), id: run.turn },
    { name: t("console.facts.id_stream"), id: run.stream },
    { name: t("console.facts.id_trace"), id: run.trace },
    { name: t("console.facts.id_address"), id: run.replyTo },
  ];
  return (
    <section>
      <h2>{t("console.facts.ids")}</h2>
      <dl>
        {ids.map(({ name, id }) => (
          <div key={name} className={classes["id"]}>
            <dt>{name}</dt>
            <dd>
              <CopyId id={id} name={name} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
