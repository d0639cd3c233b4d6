import { useEffect, useRef } from "react";
import { Link } from "wouter";
import type { WireRun } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { hrefOf } from "../../data/place.ts";
import { useLiveRuns } from "../../data/runs.ts";
import { useTimeline } from "../../data/timeline.ts";
import { senderName } from "../../components/names.ts";
import { useAgentName } from "../../components/use-agent-name.ts";
import { Place } from "../../components/records/place-link.tsx";
import { ProgressBar } from "../../components/records/run-row.tsx";
import classes from "./mini-pane.module.css";

/** A conversation in small, live; its whole is a click away. */
export function MiniPane({ address, name }: { address: string; name: string }) {
  const t = useTexts();
  const { data: timeline } = useTimeline(address);
  const { data: live } = useLiveRuns(address);
  const messages = timeline?.messages ?? [];
  const runs = live ?? [];
  const end = useRef<HTMLDivElement>(null);
  const height = messages.length + runs.length;
  useEffect(() => {
    if (end.current) end.current.scrollTop = end.current.scrollHeight;
  }, [height]);
  return (
    <section className={classes["pane"]} aria-label={t("console.guide.pane", { name })}>
      <Link href={hrefOf(address)} className={classes["title"]}>
        <Place address={address} />
      </Link>
      <div ref={end} className={classes["messages"]} tabIndex={0} role="log" aria-label={name}>
        {messages.length === 0 && runs.length === 0 ? (
          <p className={classes["empty"]}>{t("console.guide.pane_empty")}</p>
        ) : null}
        {messages.map((message) =>
          message.role === "user" ? (
            <Said key={message.id} name={senderName(t, message.sender)} text={message.text} />
          ) : (
            <Answered
              key={message.id}
              run={message.run}
              text={message.text}
              notice={message.notice !== null}
            />
          ),
        )}
        {runs.map((run) => (
          <Working key={run.id} run={run} />
        ))}
      </div>
    </section>
  );
}

function Said(props: { name: string; text: string; agent?: boolean; notice?: boolean }) {
  return (
    <div className={classes["message"]} data-notice={props.notice}>
      <Avatar name={props.name} agent={props.agent ?? false} small />
      <div className={classes["words"]}>
        <strong dir="auto">{props.name}</strong>
        <div className={classes["text"]}>
          <Markdown text={props.text} />
        </div>
      </div>
    </div>
  );
}

function Answered({ run, text, notice }: { run: string | null; text: string; notice: boolean }) {
  const agent = useAgentName(run);
  return <Said name={agent ?? "Waybill"} text={text} agent notice={notice} />;
}

function Working({ run }: { run: WireRun }) {
  const percent = run.progress?.percent ?? null;
  return (
    <div className={classes["message"]} aria-busy>
      <Avatar name={run.agent} agent small />
      <div className={classes["words"]}>
        <strong>{run.agent}</strong>
        <p className={classes["progress"]}>
          {percent === null ? (
            <span className={classes["dots"]} aria-hidden />
          ) : (
            <ProgressBar percent={percent} />
          )}
          <span dir="auto">{run.progress?.text ?? ""}</span>
        </p>
      </div>
    </div>
  );
}
