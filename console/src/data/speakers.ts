import { useSyncExternalStore } from "react";

/** Who speaks in this window. The operator may speak as somebody else, to try what they would see. */
export interface Speaker {
  id: string;
  name: string;
}

const listKey = "waybill.speakers";
const currentKey = "waybill.speaker";

interface State {
  others: readonly Speaker[];
  /** Null: the operator. */
  current: string | null;
}

const hearers = new Set<() => void>();
let state: State = load();

function load(): State {
  try {
    const others = JSON.parse(localStorage.getItem(listKey) ?? "[]") as Speaker[];
    return { others: Array.isArray(others) ? others : [], current: sessionStorage.getItem(currentKey) };
  } catch {
    return { others: [], current: null };
  }
}

function put(next: State): void {
  state = next;
  try {
    localStorage.setItem(listKey, JSON.stringify(next.others));
    if (next.current === null) sessionStorage.removeItem(currentKey);
    else sessionStorage.setItem(currentKey, next.current);
  } catch {
    // Without storage it lives as long as the page.
  }
  for (const hear of hearers) hear();
}

addEventListener("storage", (event) => {
  if (event.key !== listKey) return;
  state = { ...load(), current: state.current };
  for (const hear of hearers) hear();
});

/** The choice of who speaks belongs to one window, the list of names to the browser. */
export function useSpeakers(): State {
  return useSyncExternalStore(
    (hear) => {
      hearers.add(hear);
      return () => hearers.delete(hear);
    },
    () => state,
  );
}

export function speaker(): Speaker | null {
  return state.others.find(({ id }) => id === state.current) ?? null;
}

export function speakAs(id: string | null): void {
  put({ ...state, current: id });
}

/** Adds somebody, or finds them, and speaks as them from now on. The id is the name in small letters. */
export function addSpeaker(name: string): void {
  const trimmed = name.trim().slice(0, 80);
  if (trimmed === "") return;
  const id = trimmed.toLowerCase().replaceAll(/\s+/g, "-");
  const known = state.others.some((one) => one.id === id);
  put({ others: known ? state.others : [...state.others, { id, name: trimmed }], current: id });
}
