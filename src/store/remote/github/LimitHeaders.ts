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

const whole = (text: string | undefined) =>
  text !== undefined && /^\d+$/.test(text.trim()) ? Number(text) : undefined

/** What an answer says of the quota, header by header: a host need not send them all. */
export const quotaHeaders = (headers: HeaderRecord, now: number) => {
  const stated = whole(headers["x-ratelimit-reset"])
  const reset = stated !== undefined && stated > 1e11 ? Math.floor(stated / 1000) : stated
  const date = headers["date"] === undefined ? Number.NaN : Date.parse(headers["date"])
  return {
    remaining: whole(headers["x-ratelimit-remaining"]),
    reset,
    toReset: reset === undefined ? undefined : Math.max(0, reset * 1000 - (Number.isNaN(date) ? now : date))
  }
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

/** `Retry-After` in milliseconds, given as seconds or as a date. */
export const retryAfter = (headers: HeaderRecord, now: number): number | undefined => {
  const text = headers["retry-after"]
  if (text === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined
  if (seconds !== undefined) return Math.ceil(seconds * 1000)
  const until = Date.parse(text)
  const date = headers["date"] === undefined ? Number.NaN : Date.parse(headers["date"])
  return Number.isNaN(until) ? undefined : Math.max(0, until - (Number.isNaN(date) ? now : date))
}
