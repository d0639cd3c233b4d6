import { useSyncExternalStore } from "react";

let said = { text: "", turn: 0 };
const hearers = new Set<() => void>();

/** Tells users of screen readers what happened, after what is being read to them. */
export function announce(text: string): void {
  said = { text, turn: said.turn + 1 };
  for (const hear of hearers) hear();
}

/** Two regions take turns, so that the same words twice are heard twice. */
export function LiveRegion() {
  const now = useSyncExternalStore(
    (hear) => {
      hearers.add(hear);
      return () => hearers.delete(hear);
    },
    () => said,
  );
  return (
    <>
      <div className="visually-hidden" role="status" aria-live="polite">
        {now.turn % 2 === 0 ? now.text : ""}
      </div>
      <div className="visually-hidden" role="status" aria-live="polite">
        {now.turn % 2 === 1 ? now.text : ""}
      </div>
    </>
  );
}
