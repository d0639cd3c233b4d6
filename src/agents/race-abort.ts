/** The error that an aborted signal stands for: its reason if that is an error, else an `AbortError`. */
export function abortReason(signal: AbortSignal): Error {
  if (signal.reason instanceof Error) return signal.reason;
  return new DOMException("The run was aborted.", "AbortError");
}

/** @throws the signal's reason if it has aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortReason(signal);
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts. Work that hangs is left behind,
 * and what it does later is ignored. It is raced once, as a whole: a race for each piece of a long stream would keep
 * one reaction on the signal for every piece.
 */
export function raceAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(abortReason(signal));
    const forget = () => signal.removeEventListener("abort", onAbort);
    work.then(resolve, reject).then(forget, forget);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
