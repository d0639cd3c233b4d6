import { CalendarClock } from "lucide-react";
import type { WireScheduleState } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { useSearchState } from "../../app/search-state.ts";
import { Chips, FilterBar } from "../../components/records/filters.tsx";
import list from "../../components/records/list.module.css";
import { RecordList } from "../../components/records/record-list.tsx";
import { EmptyState } from "../../components/states.tsx";
import { useScheduleList } from "../../data/schedules.ts";
import { ScheduleTable } from "./schedule-row.tsx";

const views = {
  all: [],
  active: ["active"],
  disabled: ["disabled"],
  ended: ["done", "removed"],
} as const satisfies Record<string, readonly WireScheduleState[]>;

const viewNames = Object.keys(views) as (keyof typeof views)[];

/** `/schedules`: what comes by the clock, when next, what it led to, and what would be held. */
export function SchedulesPage() {
  const t = useTexts();
  const [state, setState] = useSearchState("state");
  const view = viewNames.find((name) => views[name].join(",") === (state ?? "")) ?? "all";
  const choices = viewNames.map((value) => ({ value, text: t(`console.schedules.view.${value}`) }));
  return (
    <>
      <PageHeader title={t("console.page.schedules")} />
      <FilterBar>
        <Chips
          label={t("console.runs.views")}
          choices={choices}
          value={view}
          onChoose={(next) => setState(views[next].join(","))}
        />
      </FilterBar>
      <div className={list["scroll"]}>
        <RecordList
          pages={useScheduleList(views[view])}
          empty={<None isFiltered={view !== "all"} />}
          shown={(count) => t("console.schedules.shown", { count })}
        >
          {(schedules) => <ScheduleTable schedules={schedules} />}
        </RecordList>
      </div>
    </>
  );
}

function None({ isFiltered }: { isFiltered: boolean }) {
  const t = useTexts();
  if (isFiltered) return <EmptyState icon={CalendarClock} title={t("console.schedules.none_found")} />;
  return (
    <EmptyState icon={CalendarClock} title={t("console.schedules.none")}>
      <p>{t("console.schedules.none_about")}</p>
    </EmptyState>
  );
}
