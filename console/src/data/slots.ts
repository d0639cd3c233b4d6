/**
 * A browser opens six connections to one server over HTTP/1.1, all its windows together; a seventh request waits
 * until one ends. Event streams never end. So the windows of this browser share four slots for them, held as Web
 * Locks, and two connections stay free for requests. Who gets no slot asks again and again instead.
 */
const shared = 4;
/** Without Web Locks (a page that is neither on localhost nor on HTTPS) windows cannot agree: each takes one. */
const alone = 1;

let taken = 0;

/**
 * Runs `hold` while a slot is held, and tells what it returned; null if there is no free slot.
 */
export async function withSlot<T>(hold: () => Promise<T>): Promise<{ value: T } | null> {
  if (!("locks" in navigator)) return withOwnSlot(hold);
  for (let slot = 0; slot < shared; slot += 1) {
    const result = await navigator.locks.request(
      `waybill-live-${slot}`,
      { ifAvailable: true },
      async (lock) => (lock === null ? null : { value: await hold() }),
    );
    if (result !== null) return result;
  }
  return null;
}

async function withOwnSlot<T>(hold: () => Promise<T>): Promise<{ value: T } | null> {
  if (taken >= alone) return null;
  taken += 1;
  try {
    return { value: await hold() };
  } finally {
    taken -= 1;
  }
}
