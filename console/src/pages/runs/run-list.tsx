import { PlayCircle } from "lucide-react";
import { useCallback } from "react";
import type { WireRunState } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { useSearchQuery } from "../../app/search-state.ts";
import { EmptyState } from "../../components/states.tsx";
import { useNode, useRunList } from "../../data/runs-list.ts";
import { useStuck } from "../../data/runs-stuck.ts";
import { liveStates } from "../../data/runs.ts";
import {
  Chips,
  FilterBar,
  FilterTag,
  PlaceFilter,
  SelectFilter,
  TextFilter,
} from "../../components/records/filters.tsx";
import { PasteBox } from "../../components/records/paste-box.tsx";
import classes from "../../components/records/list.module.css";
import { RunTable } from "../../components/records/run-row.tsx";
import { overOf, StuckList } from "./stuck.tsx";
import { RecordList } from "../../components/records/record-list.tsx";

const views = {
  all: [],
  live: liveStates,
  failed: ["failed", "interrupted"],
  completed: ["completed"],
  cancelled: ["cancelled"],
} as const satisfies Record<string, readonly WireRunState[]>;

type View = keyof typeof views | "stuck";

const allStates = new Set<string>([...Object.values(views).flat(), "staged"]);

/** The filters of the list, as they stand in the URL. */
function useRunFilters() {
  const [query, set] = useSearchQuery();
  const given = (query.get("state") ?? "").split(",").filter((one) => allStates.has(one)) as WireRunState[];
  const state = given.join(",");
  const named = (Object.keys(views) as (keyof typeof views)[]).find(
    (view) => views[view].join(",") === state,
  );
  const view: View | null = query.get("view") === "stuck" ? "stuck" : (named ?? null);
  return {
    set,
    view,
    states: given,
    agent: query.get("agent"),
    place: query.get("place"),
    text: query.get("text"),
    over: overOf(query.get("over")),
  };
}

/** All runs, with filters that live in the URL, and what is stuck one step away. */
export function RunList() {
  const t = useTexts();
  const filters = useRunFilters();
  const { set, view } = filters;
  return (
    <>
      <PageHeader title={t("console.page.runs")}>
        <PasteBox />
      </PageHeader>
      <Filters {...filters} />
      <div className={classes["scroll"]}>
        {view === "stuck" ? (
          <StuckList over={filters.over} onOver={(over) => set({ over })} />
        ) : (
          <Runs {...filters} />
        )}
      </div>
    </>
  );
}

type RunFilters = ReturnType<typeof useRunFilters>;

function Filters({ set, view, states, agent, place, text, over }: RunFilters) {
  const t = useTexts();
  const { data: node } = useNode();
  const { data: stuck } = useStuck(over.ms);
  const count = (stuck?.runs.length ?? 0) + (stuck?.deliveries.length ?? 0);
  const choices = (["all", "live", "stuck", "failed", "completed", "cancelled"] as const).map((value) => ({
    value,
    text: t(`console.runs.view.${value}`),
    count: value === "stuck" && count > 0 ? `${count}${stuck?.more ? "+" : ""}` : undefined,
  }));
  const choose = (next: View): void =>
    set(
      next === "stuck"
        ? { view: "stuck", state: null }
        : { view: null, over: null, state: views[next].join(",") },
    );
  const setText = useCallback((value: string | null) => set({ text: value }), [set]);
  const agents = (node?.agents ?? []).map(({ name }) => ({ value: name, text: name }));
  return (
    <FilterBar>
      <Chips label={t("console.runs.views")} choices={choices} value={view} onChoose={choose} />
      {view === "stuck" ? null : (
        <>
          {view === null
            ? states.map((state) => (
                <FilterTag
                  key={state}
                  text={t(`console.runs.state.${state}`)}
                  onRemove={() => set({ state: states.filter((one) => one !== state).join(",") })}
                />
              ))
            : null}
          <SelectFilter
            label={t("console.runs.filter_agent")}
            all={t("console.runs.all_agents")}
            value={agent}
            options={agents}
            onChange={(value) => set({ agent: value })}
          />
          <PlaceFilter value={place} onChange={(value) => set({ place: value })} />
          <TextFilter label={t("console.runs.filter_text")} value={text} onChange={setText} />
        </>
      )}
    </FilterBar>
  );
}

function Runs({ set, states, agent, place, text }: RunFilters) {
  const t = useTexts();
  const pages = useRunList({ states, agent, place, text });
  const isFiltered = states.length > 0 || agent !== null || place !== null || text !== null;
  const clear = (): void => set({ state: null, agent: null, place: null, text: null });
  const empty = isFiltered ? (
    <EmptyState icon={PlayCircle} title={t("console.runs.none_found")}>
      <button type="button" className={classes["plain"]} onClick={clear}>
        {t("console.runs.clear")}
      </button>
    </EmptyState>
  ) : (
    <EmptyState icon={PlayCircle} title={t("console.runs.none")}>
      <p>{t("console.runs.none_about")}</p>
    </EmptyState>
  );
  return (
    <RecordList pages={pages} empty={empty} shown={(count) => t("console.runs.shown", { count })}>
      {(runs) => <RunTable runs={runs} label={t("console.page.runs")} />}
    </RecordList>
  );
}
