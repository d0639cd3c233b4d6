import { CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { useTexts } from "../../app/language.tsx";
import { EmptyState, ErrorState, LoadingLines } from "../../components/states.tsx";
import { useStuck } from "../../data/runs-stuck.ts";
import { DeliveryTable } from "../../components/records/delivery-row.tsx";
import { RunTable } from "../../components/records/run-row.tsx";
import list from "../../components/records/list.module.css";
import classes from "./stuck.module.css";

const overs = [
  { value: "1m", ms: 60_000 },
  { value: "10m", ms: 600_000 },
  { value: "1h", ms: 3_600_000 },
] as const;

type Over = (typeof overs)[number];

export function overOf(value: string | null): Over {
  return overs.find((over) => over.value === value) ?? overs[0];
}

/** What somebody has to look at: runs that have gone on for long, and posts that did not arrive. */
export function StuckList({ over, onOver }: { over: Over; onOver: (value: string | null) => void }) {
  const t = useTexts();
  const stuck = useStuck(over.ms);
  if (stuck.isPending) return <LoadingLines />;
  if (stuck.isError) return <ErrorState error={stuck.error} retry={() => void stuck.refetch()} />;
  const { runs, deliveries } = stuck.data;
  const isEmpty = runs.length === 0 && deliveries.length === 0;
  return (
    <>
      <p className={classes["about"]}>
        <label>
          {t("console.stuck.over")}{" "}
          <select
            value={over.value}
            onChange={(event) =>
              onOver(event.currentTarget.value === "1m" ? null : event.currentTarget.value)
            }
          >
            {overs.map(({ value }) => (
              <option key={value} value={value}>
                {t(`console.stuck.over_${spell(value)}`)}
              </option>
            ))}
          </select>
        </label>
      </p>
      {isEmpty ? <EmptyState icon={CircleCheck} title={t("console.stuck.none")} /> : null}
      {runs.length > 0 ? (
        <Part title={t("console.stuck.runs")}>
          <RunTable runs={runs} label={t("console.stuck.runs")} />
        </Part>
      ) : null}
      {deliveries.length > 0 ? (
        <Part title={t("console.stuck.deliveries")}>
          <DeliveryTable deliveries={deliveries} label={t("console.stuck.deliveries")} />
        </Part>
      ) : null}
    </>
  );
}

function spell(value: Over["value"]): "minute" | "ten_minutes" | "hour" {
  return value === "1m" ? "minute" : value === "10m" ? "ten_minutes" : "hour";
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className={list["title"]}>{title}</h2>
      {children}
    </section>
  );
}
