import { Button } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import type { WireMessage, WireNode, WireRun } from "../../../../src/http/api.ts";
import { useLanguage, useTexts, type Translate } from "../../app/language.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { textWithIds } from "../../components/safe-link.tsx";
import { get } from "../../data/api.ts";
import { alice, askGuide, freshConversation, recall, remember } from "../../data/guide.ts";
import { useLive } from "../../data/live.ts";
import { useNode } from "../../data/runs-list.ts";
import { isLive } from "../../data/runs.ts";
import { useStory } from "../../data/story.ts";
import { serverNow } from "../../data/time.ts";
import { useTimeline } from "../../data/timeline.ts";
import { IdLink, shortId } from "../../components/records/short-id.tsx";
import classes from "./demo.module.css";
import { MiniPane } from "./mini-pane.tsx";
import { Promised } from "./promised.tsx";
import { Trace, Verdict, type TraceLine } from "./trace.tsx";

/** A showing, as this window remembers it: also over a reload. */
interface Showing {
  address: string;
  run: string;
  boot: string;
  pid: number;
  startedAt: string;
  goneAt: string | null;
  backAt: string | null;
}

const key = "job";
const startCommand = "npm start";
const now = (): string => new Date(serverNow()).toISOString();

function useShowing() {
  const { locale } = useLanguage();
  const [showing, setShowing] = useState<Showing | null>(() => recall<Showing>(key));
  const [state, setState] = useState<"idle" | "asking" | "failed">("idle");
  const put = useCallback((next: Showing): void => {
    remember(key, next);
    setShowing(next);
  }, []);
  const show = async (): Promise<void> => {
    setState("asking");
    try {
      const { boot, pid } = await get<WireNode>("/v1/node");
      const { address, run } = await askGuide(
        freshConversation("job"),
        "dm",
        alice,
        locale === "ko" ? "작업" : "job",
      );
      if (boot === null || pid === null || run === null) throw new TypeError("There is no process to end.");
      put({ address, run, boot, pid, startedAt: now(), goneAt: null, backAt: null });
      setState("idle");
    } catch {
      setState("failed");
    }
  };
  useWatch(showing, put);
  return { showing, state, show };
}

/** Notes when the gateway goes, and when another process answers in its place. */
function useWatch(showing: Showing | null, put: (next: Showing) => void): void {
  const { status } = useLive();
  const { data: node } = useNode();
  const boot = node?.boot ?? null;
  useEffect(() => {
    if (showing === null || showing.backAt !== null) return;
    const isAnother = boot !== null && boot !== showing.boot;
    if (isAnother && status !== "offline")
      put({ ...showing, goneAt: showing.goneAt ?? now(), backAt: now() });
    else if (status === "offline" && showing.goneAt === null) put({ ...showing, goneAt: now() });
  }, [showing, status, boot, put]);
}

/** Promise 2: a process that was killed is admitted, in one notice. */
export function JobDemo({ canShow }: { canShow: boolean }) {
  const t = useTexts();
  const { showing, state, show } = useShowing();
  return (
    <Promised
      number={2}
      title={t("console.guide.job.title")}
      about={t("console.guide.job.about")}
      action={
        <Button disabled={!canShow} loading={state === "asking"} onClick={() => void show()}>
          {t(showing ? "console.guide.show_again" : "console.guide.show")}
        </Button>
      }
    >
      {state === "failed" ? <p className={classes["failure"]}>{t("console.error.title")}</p> : null}
      {showing ? <Stage key={showing.run} showing={showing} /> : null}
    </Promised>
  );
}

function Stage({ showing }: { showing: Showing }) {
  const t = useTexts();
  const { data: story } = useStory(showing.run);
  const { data: timeline } = useTimeline(showing.address);
  const job = story?.runs.find((run) => run.parent === showing.run);
  const notices = (timeline?.messages ?? []).filter(({ notice }) => notice?.key === "run.interrupted");
  return (
    <div className={classes["stage"]}>
      <div className={classes["panes"]}>
        <MiniPane address={showing.address} name="Alice" />
        {showing.backAt === null ? <Instructions showing={showing} /> : null}
      </div>
      <Trace lines={traceOf(t, showing, job, notices)}>
        <Judged showing={showing} job={job} notices={notices} />
      </Trace>
    </div>
  );
}

function Instructions({ showing }: { showing: Showing }) {
  const t = useTexts();
  const kill = `kill -9 ${showing.pid}`;
  return (
    <div className={classes["instructions"]}>
      <p>{t("console.guide.job.kill")}</p>
      <div className={classes["command"]}>
        <code>{kill}</code>
        <CopyButton text={kill} label={t("console.guide.job.copy_kill")} />
      </div>
      <p className={classes["small"]}>
        {t("console.guide.job.process", { pid: showing.pid, boot: shortId(showing.boot) })}
      </p>
      <p>{t("console.guide.job.restart")}</p>
      <div className={classes["command"]}>
        <code>{startCommand}</code>
        <CopyButton text={startCommand} label={t("console.guide.job.copy_start")} />
      </div>
    </div>
  );
}

function traceOf(
  t: Translate,
  showing: Showing,
  job: WireRun | undefined,
  notices: readonly WireMessage[],
): TraceLine[] {
  const lines: TraceLine[] = [
    {
      key: "started",
      at: job?.startedAt ?? showing.startedAt,
      text: (
        <>
          {t("console.guide.job.started")} {job ? <IdLink id={job.id} href={`/runs/${job.id}`} /> : null}
        </>
      ),
    },
  ];
  if (showing.goneAt !== null) {
    lines.push({ key: "gone", at: showing.goneAt, text: t("console.guide.job.gone") });
  }
  if (showing.backAt !== null) lines.push({ key: "back", at: showing.backAt, text: <Back /> });
  if (job?.state === "interrupted" && job.finishedAt !== null) {
    lines.push({ key: "interrupted", at: job.finishedAt, text: t("console.guide.job.interrupted") });
  }
  for (const notice of notices) lines.push({ key: notice.id, at: notice.at, text: textWithIds(notice.text) });
  return lines.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function Back() {
  const t = useTexts();
  const { data: node } = useNode();
  return t("console.guide.job.back", { pid: node?.pid ?? "?" });
}

function Judged({
  showing,
  job,
  notices,
}: {
  showing: Showing;
  job: WireRun | undefined;
  notices: readonly WireMessage[];
}) {
  const t = useTexts();
  if (!job || isLive(job.state)) return null;
  if (job.state === "completed") return <p role="status">{t("console.guide.job.finished")}</p>;
  if (job.state !== "interrupted") return <p role="status">{t("console.guide.job.stopped")}</p>;
  const ours = notices.filter((notice) => notice.run === job.id && notice.address === showing.address);
  // The news of the notice may be on its way.
  if (notices.length === 0) return null;
  return ours.length === 1 && notices.length === 1 ? (
    <Verdict kept>{t("console.guide.job.kept")}</Verdict>
  ) : (
    <Verdict kept={false}>{t("console.guide.job.broken", { count: notices.length })}</Verdict>
  );
}
