import { PackageCheck } from "lucide-react";
import type { WireDeliveryState } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { useSearchQuery } from "../../app/search-state.ts";
import { DeliveryTable } from "../../components/records/delivery-row.tsx";
import { Chips, FilterBar, FilterTag, PlaceFilter } from "../../components/records/filters.tsx";
import list from "../../components/records/list.module.css";
import { PasteBox } from "../../components/records/paste-box.tsx";
import { RecordList } from "../../components/records/record-list.tsx";
import { shortId } from "../../components/records/short-id.tsx";
import { EmptyState } from "../../components/states.tsx";
import { useDeliveryList } from "../../data/deliveries.ts";
import { RefusalList } from "./refusal-list.tsx";

const views = {
  all: [],
  dead: ["dead"],
  unknown: ["unknown"],
  blocked: ["blocked"],
  held: ["held"],
  open: ["pending", "sending"],
  delivered: ["delivered"],
} as const satisfies Record<string, readonly WireDeliveryState[]>;

/** `refused`: sends that never became deliveries. */
type View = keyof typeof views | "refused";

const stateViews = Object.keys(views) as (keyof typeof views)[];
const allStates = new Set<string>([...Object.values(views).flat(), "withdrawn"]);

function useDeliveryFilters() {
  const [query, set] = useSearchQuery();
  const states = (query.get("state") ?? "")
    .split(",")
    .filter((one) => allStates.has(one)) as WireDeliveryState[];
  const named = stateViews.find((name) => views[name].join(",") === states.join(","));
  const view: View | null = query.get("view") === "refused" ? "refused" : (named ?? null);
  return { set, states, view, place: query.get("place"), run: query.get("run") };
}

type Filters = ReturnType<typeof useDeliveryFilters>;

/** All deliveries; those in which somebody has to look are a click away. */
export function DeliveryList() {
  const t = useTexts();
  const filters = useDeliveryFilters();
  return (
    <>
      <PageHeader title={t("console.page.deliveries")}>
        <PasteBox />
      </PageHeader>
      <Filters {...filters} />
      <div className={list["scroll"]}>
        {filters.view === "refused" ? <RefusalList /> : <Deliveries {...filters} />}
      </div>
    </>
  );
}

function Filters({ set, view, states, place, run }: Filters) {
  const t = useTexts();
  const choices = ([...stateViews, "refused"] as const).map((value) => ({
    value,
    text: t(`console.deliveries.view.${value}`),
  }));
  const choose = (next: View): void =>
    set(
      next === "refused"
        ? { view: next, state: null, place: null, run: null }
        : { view: null, state: views[next].join(",") },
    );
  return (
    <FilterBar>
      <Chips label={t("console.runs.views")} choices={choices} value={view} onChoose={choose} />
      {view === null
        ? states.map((state) => (
            <FilterTag
              key={state}
              text={t(`console.deliveries.state.${state}`)}
              onRemove={() => set({ state: states.filter((one) => one !== state).join(",") })}
            />
          ))
        : null}
      {view === "refused" ? null : <PlaceFilter value={place} onChange={(value) => set({ place: value })} />}
      {run === null ? null : (
        <FilterTag
          text={t("console.deliveries.of_run", { run: shortId(run) })}
          onRemove={() => set({ run: null })}
        />
      )}
    </FilterBar>
  );
}

function Deliveries({ states, place, run }: Filters) {
  const t = useTexts();
  const pages = useDeliveryList({ states, place, run });
  const isFiltered = states.length > 0 || place !== null || run !== null;
  const title = t(isFiltered ? "console.deliveries.none_found" : "console.deliveries.none");
  return (
    <RecordList
      pages={pages}
      empty={<EmptyState icon={PackageCheck} title={title} />}
      shown={(count) => t("console.deliveries.shown", { count })}
    >
      {(deliveries) => <DeliveryTable deliveries={deliveries} label={t("console.page.deliveries")} />}
    </RecordList>
  );
}
