/** The maximum delay of Node's timers, 24.8 days. A longer delay would fire at once. */
const maxMillis = 2 ** 31 - 1

/** Converts a time limit to whole milliseconds that Node's timers accept. An infinite limit becomes the maximum delay. */
export const clamp = (limit: number): number => Math.min(Math.ceil(limit), maxMillis)
