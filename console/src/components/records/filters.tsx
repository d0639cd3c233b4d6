import { Search, X } from "lucide-react";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { useTexts } from "../../app/language.tsx";
import { useConversations } from "../../data/conversations.ts";
import { nameOf } from "../names.ts";
import classes from "./filters.module.css";

/** The line of filters above a list. */
export function FilterBar({ children }: { children: ReactNode }) {
  const t = useTexts();
  return (
    <div className={classes["bar"]} role="search" aria-label={t("console.runs.filters")}>
      {children}
    </div>
  );
}

/** Choices of which one is on; which, stands in the URL. */
export function Chips<V extends string>(props: {
  label: string;
  choices: readonly { value: V; text: string; count?: string | undefined }[];
  value: V | null;
  onChoose: (value: V) => void;
}) {
  return (
    <div className={classes["chips"]} role="group" aria-label={props.label}>
      {props.choices.map(({ value, text, count }) => (
        <button
          key={value}
          type="button"
          className={classes["chip"]}
          aria-pressed={value === props.value}
          onClick={() => props.onChoose(value)}
        >
          {text}
          {count ? <span className={classes["count"]}>{count}</span> : null}
        </button>
      ))}
    </div>
  );
}

/** A filter with some values; the empty one means all. */
export function SelectFilter(props: {
  label: string;
  all: string;
  value: string | null;
  options: readonly { value: string; text: string }[];
  onChange: (value: string | null) => void;
}) {
  const { value, options } = props;
  const isKnown = value === null || options.some((option) => option.value === value);
  return (
    <select
      className={classes["select"]}
      aria-label={props.label}
      value={value ?? ""}
      data-on={value !== null}
      onChange={(event) => props.onChange(event.currentTarget.value || null)}
    >
      <option value="">{props.all}</option>
      {isKnown ? null : <option value={value}>{value}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  );
}

/** One place, of those where something was said. */
export function PlaceFilter({
  value,
  onChange,
}: {
  value: string | null;
  onChange: (value: string | null) => void;
}) {
  const t = useTexts();
  const { data } = useConversations();
  const options = useMemo(
    () =>
      (data?.items ?? []).map((one) => ({
        value: one.address,
        text: one.channel === "web" ? nameOf(one) : `${nameOf(one)} (${one.channel})`,
      })),
    [data],
  );
  return (
    <SelectFilter
      label={t("console.runs.filter_place")}
      all={t("console.runs.all_places")}
      value={value}
      options={options}
      onChange={onChange}
    />
  );
}

const typingMs = 250;

/** Words to look for; asked for when the typing rests. */
export function TextFilter(props: {
  label: string;
  value: string | null;
  onChange: (value: string | null) => void;
}) {
  const { value, onChange } = props;
  const [typed, setTyped] = useState(value ?? "");
  const [known, setKnown] = useState(value);
  if (value !== known) {
    setKnown(value);
    if ((value ?? "") !== typed.trim()) setTyped(value ?? "");
  }
  useEffect(() => {
    const wish = typed.trim().slice(0, 200);
    if (wish === (value ?? "")) return;
    const timer = setTimeout(() => onChange(wish === "" ? null : wish), typingMs);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <label className={classes["search"]}>
      <Search size={15} aria-hidden />
      <input
        type="search"
        aria-label={props.label}
        placeholder={props.label}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}

/** A filter that came with the URL and has no field of its own; it can be taken away. */
export function FilterTag({ text, onRemove }: { text: string; onRemove: () => void }) {
  const t = useTexts();
  return (
    <span className={classes["tag"]}>
      {text}
      <button type="button" aria-label={t("console.runs.remove_filter", { name: text })} onClick={onRemove}>
        <X size={13} aria-hidden />
      </button>
    </span>
  );
}
