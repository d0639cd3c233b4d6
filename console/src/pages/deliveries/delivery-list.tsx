import { PackageCheck } from "lucide-react";
import { useCallback } from "react";
import { useSearchParams } from "wouter";
import type { WireDeliveryState } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { EmptyState, ErrorState, LoadingLines } from "../../components/states.tsx";
import { useDeliveryList } from "../../data/deliveries.ts";
import { Chips, FilterBar, FilterTag, PlaceFilter } from "../../components/records/filters.tsx";
import { PasteBox } from "../../components/records/paste-box.tsx";
import list from "../../components/records/list.module.css";
import { shortId } from "../../components/records/short-id.tsx";
import { ListEnd } from "../../components/records/table.tsx";
import { DeliveryTable } from "../../components/records/delivery-row.tsx";

const views = {
  all: [],
  dead: ["dead"],
  unknown: ["unknown"],
  blocked: ["blocked", "held"],
  open: ["pending", "sending"],
  delivered: ["delivered"],
} as const satisfies Record<string, readonly WireDeliveryState[]>;

type View = keyof typeof views;

const viewNames = Object.keys(views) as View[];
const allStates = new Set<string>([...Object.values(views).flat(), "withdrawn"]);

function useDeliveryFilters() {
  const [query, setQuery] = useSearchParams();
  const set = useCallback(
    (name: string, value: string | null) => {
      setQuery(
        (before) => {
          const next = new URLSearchParams(before);
          if (value === null || value === "") next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      );
    },
    [setQuery],
  );
  const states = (query.get("state") ?? "")
    .split(",")
    .filter((one) => allStates.has(one)) as WireDeliveryState[];
  const view = viewNames.find((name) => views[name].join(",") === states.join(",")) ?? null;
  return { set, states, view, place: query.get("place"), run: query.get("run") };
}

type Filters = ReturnType<typeof useDeliveryFilters>;

/** All deliveries; those in which somebody has to look are a click away. */
export function DeliveryList() {
  const t = useTexts();
  const filters = useDeliveryFilters();
  const { set, view, states, place, run } = filters;
  const choices = viewNames.map((value) => ({ value, text: t(`console.deliveries.view.${value}`) }));
  return (
    <>
      <PageHeader title={t("console.page.deliveries")}>
        <PasteBox />
      </PageHeader>
      <FilterBar>
        <Chips
          label={t("console.runs.views")}
          choices={choices}
          value={view}
          onChoose={(next) => set("state", views[next].join(","))}
        />
        {view === null
          ? states.map((state) => (
              <FilterTag
                key={state}
                text={t(`console.deliveries.state.${state}`)}
                onRemove={() => set("state", states.filter((one) => one !== state).join(","))}
              />
            ))
          : null}
        <PlaceFilter value={place} onChange={(value) => set("place", value)} />
        {run === null ? null : (
          <FilterTag
            text={t("console.deliveries.of_run", { run: shortId(run) })}
            onRemove={() => set("run", null)}
          />
        )}
      </FilterBar>
      <div className={list["scroll"]}>
        <Deliveries {...filters} />
      </div>
    </>
  );
}

function Deliveries({ states, place, run }: Filters) {
  const t = useTexts();
  const page = useDeliveryList({ states, place, run });
  if (page.isPending) return <LoadingLines lines={8} />;
  if (page.isError) return <ErrorState error={page.error} retry={() => void page.refetch()} />;
  const { deliveries } = page;
  if (deliveries.length === 0) {
    const isFiltered = states.length > 0 || place !== null || run !== null;
    return (
      <EmptyState
        icon={PackageCheck}
        title={t(isFiltered ? "console.deliveries.none_found" : "console.deliveries.none")}
      />
    );
  }
  return (
    <>
      <DeliveryTable deliveries={deliveries} label={t("console.page.deliveries")} />
      <ListEnd
        text={t("console.deliveries.shown", { count: deliveries.length })}
        more={page.hasNextPage}
        busy={page.isFetchingNextPage}
        onMore={() => void page.fetchNextPage()}
      />
    </>
  );
}
