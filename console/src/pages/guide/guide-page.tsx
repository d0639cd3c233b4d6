import { Lock } from "lucide-react";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { ErrorState, LoadingLines } from "../../components/states.tsx";
import { guideAgents } from "../../data/guide.ts";
import { useNode } from "../../data/runs-list.ts";
import classes from "./guide-page.module.css";
import { JobDemo } from "./job-demo.tsx";
import { Promised } from "./promised.tsx";
import { StaysDemo } from "./stays-demo.tsx";

/** The product's promises, replayed live; without settings all that they need is there. */
export function GuidePage() {
  const t = useTexts();
  const node = useNode();
  const names = new Set(node.data?.agents.map(({ name }) => name));
  const canShow = guideAgents.every((name) => names.has(name));
  return (
    <>
      <PageHeader title={t("console.page.guide")} />
      <div className={classes["page"]}>
        <div className={classes["column"]}>
          <h2 className={classes["lead"]}>{t("console.guide.title")}</h2>
          <p className={classes["about"]}>{t("console.guide.lead")}</p>
          {node.isPending ? <LoadingLines /> : null}
          {node.isError && !node.data ? (
            <ErrorState error={node.error} retry={() => void node.refetch()} />
          ) : null}
          {node.data && !canShow ? <p className={classes["notice"]}>{t("console.guide.no_agents")}</p> : null}
          {node.data ? (
            <>
              <StaysDemo canShow={canShow} />
              <JobDemo canShow={canShow} />
              <Later
                number={3}
                title={t("console.guide.peers.title")}
                about={t("console.guide.peers.about")}
              />
              <Later
                number={4}
                title={t("console.guide.tokens.title")}
                about={t("console.guide.tokens.about")}
              />
            </>
          ) : null}
        </div>
      </div>
    </>
  );
}

function Later(props: { number: number; title: string; about: string }) {
  const t = useTexts();
  return (
    <Promised
      {...props}
      action={
        <span className={classes["later"]}>
          <Lock size={13} aria-hidden />
          {t("console.guide.later")}
        </span>
      }
    />
  );
}
