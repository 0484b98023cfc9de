/** The headers of a reply, by lower-case name. */
export type HeaderRecord = { readonly [name: string]: string | undefined }

/** The rate limit headers of a reply. `toReset`: milliseconds, by the host's clock if the reply has a date. */
export interface LimitHeaders {
  readonly resource: string
  readonly limit: number
  readonly remaining: number
  readonly used: number
  readonly reset: number
  readonly toReset: number
}

/** In milliseconds. GitHub's windows last an hour; a window beyond a year is not plausible. */
const year = 366 * 86_400_000

/** A number of requests; undefined if it is not a valid one. */
export const count = (given: number): number | undefined =>
  Number.isSafeInteger(given) && given >= 0 ? given : undefined

/** Seconds since the epoch. Some hosts send milliseconds, which are converted. Undefined if it is not a time. */
export const moment = (given: number): number | undefined => {
  const stated = count(given)
  const seconds = stated !== undefined && stated > 1e11 ? Math.floor(stated / 1000) : stated
  return seconds === undefined || Number.isNaN(new Date(seconds * 1000).getTime()) ? undefined : seconds
}

const whole = (text: string | undefined) =>
  text !== undefined && /^\d+$/.test(text.trim()) ? count(Number(text)) : undefined

/** The time by the host's clock if the reply has a date, else by ours. */
const nowOf = (headers: HeaderRecord, now: number) => {
  const date = headers["date"] === undefined ? Number.NaN : Date.parse(headers["date"])
  return Number.isNaN(date) ? now : date
}

/** The quota headers of a reply, each optional. */
export const quotaHeaders = (headers: HeaderRecord, now: number) => {
  const remaining = whole(headers["x-ratelimit-remaining"])
  const reset = moment(whole(headers["x-ratelimit-reset"]) ?? Number.NaN)
  if (reset === undefined) return { remaining, reset, toReset: undefined }
  const toReset = Math.max(0, reset * 1000 - nowOf(headers, now))
  return toReset > year ? { remaining, reset: undefined, toReset: undefined } : { remaining, reset, toReset }
}

/** The rate limit of a reply; undefined if a header is missing or invalid. */
export const limitHeaders = (headers: HeaderRecord, now: number): LimitHeaders | undefined => {
  const limit = whole(headers["x-ratelimit-limit"])
  const { remaining, reset, toReset } = quotaHeaders(headers, now)
  if (limit === undefined || remaining === undefined || reset === undefined || toReset === undefined) {
    return undefined
  }
  return {
    resource: headers["x-ratelimit-resource"] ?? "core",
    limit,
    remaining,
    used: whole(headers["x-ratelimit-used"]) ?? limit - remaining,
    reset,
    toReset
  }
}

/** Whether the reply comes from github.com, also through a proxy. An Enterprise server names its version. */
export const isGitHubAnswer = (headers: HeaderRecord): boolean =>
  /^github\.com$/i.test(headers["server"] ?? "") && headers["x-github-enterprise-version"] === undefined

/** `Retry-After` in milliseconds, from seconds or a date; a year at most. */
export const retryAfter = (headers: HeaderRecord, now: number): number | undefined => {
  const text = headers["retry-after"]
  if (text === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined
  if (seconds !== undefined) return Math.min(year, Math.ceil(seconds * 1000))
  const until = Date.parse(text)
  return Number.isNaN(until) ? undefined : Math.min(year, Math.max(0, until - nowOf(headers, now)))
}
