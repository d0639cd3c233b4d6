import { Button } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { WireAccepted, WireDelivery } from "../../../../src/http/api.ts";
import { useLanguage, type Translate } from "../../app/language.tsx";
import { useDeliveryList } from "../../data/deliveries.ts";
import { alice, askGuide, bob, freshConversation } from "../../data/guide.ts";
import { isLive, useRun } from "../../data/runs.ts";
import { serverNow } from "../../data/time.ts";
import { pause } from "../../data/waiting.ts";
import { ruleKey } from "../../components/records/delivery-names.ts";
import { PlaceLink } from "../../components/records/place-link.tsx";
import { IdLink } from "../../components/records/short-id.tsx";
import classes from "./demo.module.css";
import { MiniPane } from "./mini-pane.tsx";
import { Promised } from "./promised.tsx";
import { Trace, Verdict, type TraceLine } from "./trace.tsx";

interface Showing {
  dm: WireAccepted;
  askedAt: string;
  /** What Bob said meanwhile. */
  said: { accepted: WireAccepted; at: string }[];
  team: string;
}

const lines = ["one", "two", "three", "four"] as const;
const betweenMs = 2_500;

/** Alice waits in her direct message while Bob is busy in a channel. */
function useShowing() {
  const { t, locale } = useLanguage();
  const [showing, setShowing] = useState<Showing | null>(null);
  const [state, setState] = useState<"idle" | "asking" | "talking" | "failed">("idle");
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const show = async (): Promise<void> => {
    stop.current.abort();
    const { signal } = (stop.current = new AbortController());
    setState("asking");
    const team = freshConversation("team");
    const now = (): string => new Date(serverNow()).toISOString();
    try {
      const askedAt = now();
      const dm = await askGuide(freshConversation("alice"), "dm", alice, locale === "ko" ? "천천히" : "slow");
      setShowing({ dm, askedAt, said: [], team: "" });
      setState("talking");
      for (const line of lines) {
        await pause(betweenMs, signal);
        if (signal.aborted) return;
        const at = now();
        const accepted = await askGuide(team, "channel", bob, t(`console.guide.line.${line}`));
        const said = { accepted, at };
        setShowing((before) => before && { ...before, team: accepted.address, said: [...before.said, said] });
      }
      setState("idle");
    } catch {
      if (!signal.aborted) setState("failed");
    }
  };
  return { showing, state, show };
}

/** Promise 1: an answer stays where it was asked. */
export function StaysDemo({ canShow }: { canShow: boolean }) {
  const { t } = useLanguage();
  const { showing, state, show } = useShowing();
  const { data: slow } = useRun(showing?.dm.run ?? null);
  const isBusy = state === "asking" || state === "talking" || (slow !== undefined && isLive(slow.state));
  return (
    <Promised
      number={1}
      title={t("console.guide.stays.title")}
      about={t("console.guide.stays.about")}
      action={
        <Button disabled={!canShow || isBusy} onClick={() => void show()}>
          {t(isBusy ? "console.guide.running" : showing ? "console.guide.show_again" : "console.guide.show")}
        </Button>
      }
    >
      {state === "failed" ? <p className={classes["failure"]}>{t("console.error.title")}</p> : null}
      {showing ? <Stage showing={showing} /> : null}
    </Promised>
  );
}

function Stage({ showing }: { showing: Showing }) {
  const { t } = useLanguage();
  const { address, run } = showing.dm;
  const { data: slow } = useRun(run);
  const inDm = useDeliveryList({ states: [], place: address, run: null }).items;
  const inTeam = useDeliveryList({ states: [], place: showing.team || address, run: null }).items;
  const posts = [...inDm, ...(showing.team === "" ? [] : inTeam)];
  const ended = slow !== undefined && !isLive(slow.state);
  return (
    <div className={classes["stage"]}>
      <div className={classes["panes"]}>
        <MiniPane address={address} name="Alice" />
        {showing.team === "" ? null : <MiniPane address={showing.team} name="Bob" />}
      </div>
      <Trace lines={traceOf(t, showing, posts)}>
        {ended ? <Judged showing={showing} inDm={inDm} inTeam={inTeam} /> : null}
      </Trace>
    </div>
  );
}

/** The answers are where their turns came from, each run's own, and the direct message has exactly one. */
function Judged({
  showing,
  inDm,
  inTeam,
}: {
  showing: Showing;
  inDm: readonly WireDelivery[];
  inTeam: readonly WireDelivery[];
}) {
  const { t } = useLanguage();
  const runs = new Set(showing.said.map(({ accepted }) => accepted.run));
  const isKept =
    inDm.length === 1 && inDm[0]?.run === showing.dm.run && inTeam.every(({ run }) => runs.has(run));
  // The news of the last post may be on its way.
  if (inDm.length === 0) return null;
  return (
    <Verdict kept={isKept}>
      {isKept ? t("console.guide.stays.kept", { count: inTeam.length }) : t("console.guide.stays.broken")}
    </Verdict>
  );
}

function traceOf(t: Translate, showing: Showing, posts: readonly WireDelivery[]): TraceLine[] {
  const asked: TraceLine[] = [
    { key: "asked", at: showing.askedAt, text: t("console.guide.stays.asked") },
    ...showing.said.map(({ accepted, at }) => ({
      key: accepted.message,
      at,
      text: t("console.guide.stays.other"),
    })),
  ];
  const posted = posts.map((post) => ({
    key: post.id,
    at: post.settledAt ?? post.createdAt,
    text: (
      <>
        {t("console.guide.stays.posted")} <PlaceLink address={post.address} />{" "}
        {t("console.guide.stays.rule", { rule: t(`console.deliveries.rule.${ruleKey(post.rule)}`) })}{" "}
        <IdLink id={post.run ?? post.id} href={post.run ? `/runs/${post.run}` : `/deliveries/${post.id}`} />
      </>
    ),
  }));
  return [...asked, ...posted].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}
