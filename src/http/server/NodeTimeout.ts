/** What Node's timers wait at most, 24.8 days: anything longer would end at once. */
const maxMillis = 2 ** 31 - 1

/** A limit of time as Node's timers and servers take it: whole milliseconds, and what never ends lasts as long as they can wait. */
export const clamp = (limit: number): number => Math.min(Math.ceil(limit), maxMillis)
