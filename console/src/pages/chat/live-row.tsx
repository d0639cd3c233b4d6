import { Square, Wrench } from "lucide-react";
import { useState } from "react";
import type { StreamView, ToolPart, TreePart } from "../../../../src/streams/reduce.ts";
import type { WireRun } from "../../../../src/http/api.ts";
import { useLanguage } from "../../app/language.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { cancelRun } from "../../data/runs.ts";
import { useStream, viewOf, type Followed } from "../../data/streams.ts";
import classes from "./live-row.module.css";
import row from "./message-row.module.css";
import { RunLink } from "./message-row.tsx";

/** A run whose answer is due here: what it streams, how far it is, and how to stop it. */
export function LiveRow({ run, said }: { run: WireRun; said: boolean }) {
  const { t } = useLanguage();
  const followed = useStream(run.stream);
  const view = viewOf(followed, run.stream);
  // Its message is there already, and the news that it has ended is on its way.
  if (said && view !== null && view.state !== "open") return null;
  return (
    <article
      className={row["row"]}
      data-first="true"
      data-live="true"
      aria-busy
      aria-label={t("console.chat.being_written", { name: run.agent })}
    >
      <div className={row["gutter"]}>
        <Avatar name={run.agent} agent />
      </div>
      <div className={row["content"]}>
        <div className={row["head"]}>
          <strong dir="auto">{run.agent}</strong>
          <RunLink run={run.id} />
        </div>
        {followed ? <Nested followed={followed} own={run.stream} /> : null}
        {(view?.parts ?? []).map((part, index) => (
          <Part key={index} part={part} />
        ))}
        <Life run={run} view={view} />
      </div>
    </article>
  );
}

/** Nested calls that show parts of their own, each apart. */
function Nested({ followed, own }: { followed: Followed; own: string }) {
  return Object.entries(followed.tree).map(([stream, view]) =>
    stream === own || view.parts.length === 0 ? null : (
      <div key={stream} className={classes["nested"]}>
        {view.parts.map((part, index) => (
          <Part key={index} part={part} />
        ))}
      </div>
    ),
  );
}

function Part({ part }: { part: TreePart }) {
  const { t } = useLanguage();
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} open={!part.done} />;
    case "reasoning":
      return (
        <details className={classes["reasoning"]}>
          <summary>{t("console.chat.reasoning")}</summary>
          <Markdown text={part.text} open={!part.done} />
        </details>
      );
    case "tool":
      return <Tool part={part} />;
    default:
      return null;
  }
}

function Tool({ part }: { part: ToolPart }) {
  return (
    <div className={classes["tool"]} data-state={part.state}>
      <Wrench size={14} aria-hidden />
      <code>{part.name}</code>
      {part.error === null ? null : <span dir="auto">{part.error}</span>}
    </div>
  );
}

/** Where it is now, and the button that ends it. */
function Life({ run, view }: { run: WireRun; view: StreamView | null }) {
  const { t } = useLanguage();
  const [stopping, setStopping] = useState(false);
  const stop = (): void => {
    setStopping(true);
    cancelRun(run.id).catch(() => setStopping(false));
  };
  const writing = view !== null && view.text !== "" && run.progress === null;
  return (
    <div className={classes["life"]}>
      <span className={classes["dots"]} aria-hidden>
        <i />
        <i />
        <i />
      </span>
      <span dir="auto">{stopping ? t("console.chat.stopping") : stateText(t, run, writing)}</span>
      {(run.progress?.percent ?? null) === null ? null : (
        <progress max={100} value={run.progress?.percent ?? 0} aria-label={t("console.chat.progress")} />
      )}
      <button type="button" className={classes["stop"]} disabled={stopping} onClick={stop}>
        <Square size={11} fill="currentColor" aria-hidden />
        {t("console.chat.stop")}
      </button>
    </div>
  );
}

function stateText(t: ReturnType<typeof useLanguage>["t"], run: WireRun, writing: boolean): string {
  if (run.state === "queued") return t("console.run.queued");
  if (run.state === "staged") return t("console.run.staged");
  if (run.state === "waiting") return t("console.run.waiting");
  if (run.progress !== null) return run.progress.text;
  return writing ? t("console.chat.writing") : t("console.run.running");
}
