/** Headers of an answer, by lower-case name. */
export type HeaderRecord = { readonly [name: string]: string | undefined }

/** The limit headers of an answer; `toReset` in milliseconds by the host's own clock where it told the time. */
export interface LimitHeaders {
  readonly resource: string
  readonly limit: number
  readonly remaining: number
  readonly used: number
  readonly reset: number
  readonly toReset: number
}

/** In milliseconds. A quota lasts for an hour on GitHub; a year is what no host can mean. */
const year = 366 * 86_400_000

/** A number of requests; undefined where it cannot be one. */
export const count = (given: number): number | undefined =>
  Number.isSafeInteger(given) && given >= 0 ? given : undefined

/** Seconds since the epoch, which some hosts give in milliseconds; undefined where it is not a time. */
export const moment = (given: number): number | undefined => {
  const stated = count(given)
  const seconds = stated !== undefined && stated > 1e11 ? Math.floor(stated / 1000) : stated
  return seconds === undefined || Number.isNaN(new Date(seconds * 1000).getTime()) ? undefined : seconds
}

const whole = (text: string | undefined) =>
  text !== undefined && /^\d+$/.test(text.trim()) ? count(Number(text)) : undefined

/** The time by the host's own clock where it told it. */
const nowOf = (headers: HeaderRecord, now: number) => {
  const date = headers["date"] === undefined ? Number.NaN : Date.parse(headers["date"])
  return Number.isNaN(date) ? now : date
}

/** What an answer says of the quota, header by header: a host need not send them all. */
export const quotaHeaders = (headers: HeaderRecord, now: number) => {
  const remaining = whole(headers["x-ratelimit-remaining"])
  const reset = moment(whole(headers["x-ratelimit-reset"]) ?? Number.NaN)
  if (reset === undefined) return { remaining, reset, toReset: undefined }
  const toReset = Math.max(0, reset * 1000 - nowOf(headers, now))
  return toReset > year ? { remaining, reset: undefined, toReset: undefined } : { remaining, reset, toReset }
}

/** The limit that an answer announces; none where headers are absent or unreadable. */
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

/** Whether github.com itself has answered, through whatever proxy; an Enterprise server names its version. */
export const isGitHubAnswer = (headers: HeaderRecord): boolean =>
  /^github\.com$/i.test(headers["server"] ?? "") && headers["x-github-enterprise-version"] === undefined

/** `Retry-After` in milliseconds, given as seconds or as a date; a year where it is longer. */
export const retryAfter = (headers: HeaderRecord, now: number): number | undefined => {
  const text = headers["retry-after"]
  if (text === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined
  if (seconds !== undefined) return Math.min(year, Math.ceil(seconds * 1000))
  const until = Date.parse(text)
  return Number.isNaN(until) ? undefined : Math.min(year, Math.max(0, until - nowOf(headers, now)))
}
