import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Monotonic from "../../../../domain/time/MonotonicClock.js"
import type { Budget } from "../../GitRemote.js"
import { ApiFailure, type FailureKind } from "./ApiFailure.js"
import { count, type HeaderRecord, isGitHubAnswer, limitHeaders, moment } from "./LimitHeaders.js"
import { remaining as remainingMetric, timeLeft } from "./OperationContext.js"
import type { Settings } from "./Options.js"

/** How a request counts towards the limits. */
export interface Weight {
  readonly endpoint: string
  readonly resource: string
  readonly creates: boolean
}

/** Delays requests: pauses that the host asks for, pacing, the limits on writes, and the number of concurrent requests. */
export interface RateLimiter {
  /** Sends a request as soon as the limits allow. Fails at once if the wait is too long. */
  readonly through: (
    weight: Weight
  ) => <A, E, R>(request: Effect.Effect<A, E, R>) => Effect.Effect<A, E | ApiFailure, R>
  /** Updates the limits from the headers of a reply. */
  readonly observe: (headers: HeaderRecord) => Effect.Effect<number | undefined>
  /** Delays all requests, or those of one resource, as the host asks. */
  readonly pause: (resource: string | undefined, millis: number) => Effect.Effect<void>
  readonly known: Effect.Effect<ReadonlyArray<Budget>>
}

interface Window {
  readonly budget: Budget
  /** By the monotonic clock, in milliseconds. */
  readonly resetsAt: number
}

/** Milliseconds until a request may be sent, and the kind of failure if that is too long. */
type Wait = (weight: Weight, now: number) => readonly [number, FailureKind]

/** GitHub allows a user 100 concurrent requests of REST and GraphQL together. Other clients may use some of them. */
const mostAtOnce = 80

const hour = 3_600_000
const minute = 60_000

/** The state of a limit in a reply. */
interface LimitState {
  readonly limit: number
  readonly remaining: number
  readonly used?: number | undefined
  readonly reset: number
}

const toBudget = (resource: string, state: LimitState): Budget => ({
  resource,
  limit: state.limit,
  remaining: state.remaining,
  used: state.used ?? state.limit - state.remaining,
  reset: state.reset,
  resetAt: new Date(state.reset * 1000)
})

/** The limits of a reply by resource. Invalid ones are skipped. */
export const toBudgets = (resources: {
  readonly [resource: string]: LimitState | undefined
}): ReadonlyArray<Budget> =>
  Object.entries(resources).flatMap(([resource, state]) => {
    if (state === undefined) return []
    const limit = count(state.limit)
    const remaining = count(state.remaining)
    const reset = moment(state.reset)
    return limit === undefined || remaining === undefined || reset === undefined
      ? []
      : [toBudget(resource, { limit, remaining, used: count(state.used ?? Number.NaN), reset })]
  })

/**
 * The pause between requests in milliseconds. 0 until the used share of the limit exceeds the elapsed share of the window
 * by a tenth; then the remaining requests are spread over the remaining window.
 */
export const paceOf = (budget: Pick<Budget, "limit" | "remaining">, toReset: number): number => {
  if (toReset <= 0 || budget.limit <= 0) return 0
  const elapsed = Math.max(0, Math.min(1, 1 - toReset / hour))
  const ahead = budget.limit - budget.remaining - budget.limit * elapsed
  return ahead <= budget.limit / 10 ? 0 : toReset / Math.max(1, budget.remaining)
}

/** Milliseconds until the sum of the window, with `weight` added, is at most `most`. */
const untilRoom = (
  events: ReadonlyArray<readonly [at: number, weight: number]>,
  span: number,
  most: number,
  weight: number,
  now: number
): number => {
  let sum = weight
  for (let index = events.length - 1; index >= 0; index--) {
    const [at, spent] = events[index]!
    if (at <= now - span) break
    sum += spent
    if (sum > most) return at + span - now
  }
  return 0
}

export const makeRateLimiter = (
  settings: Pick<Settings, "paceRequests" | "writeLane" | "contentLimits" | "maxWait">
): Effect.Effect<RateLimiter> =>
  Effect.sync(() => {
    const maxWait = Duration.toMillis(settings.maxWait)
    const windows = new Map<string, Window>()
    const pauses = new Map<string | undefined, number>()
    const lastSlot = new Map<string, number>()
    const turns = new Map<string, Effect.Semaphore>()
    const points = new Map<string, Array<readonly [number, number]>>()
    const created: Array<readonly [number, number]> = []
    const places = Effect.unsafeMakeSemaphore(mostAtOnce)

    const turn = (name: string) => {
      const existing = turns.get(name)
      if (existing !== undefined) return existing
      const semaphore = Effect.unsafeMakeSemaphore(1)
      turns.set(name, semaphore)
      return semaphore
    }

    const trim = (events: Array<readonly [number, number]>, before: number) => {
      const keep = events.findIndex(([at]) => at > before)
      events.splice(0, keep < 0 ? events.length : keep)
    }

    const lane = settings.writeLane
    let { contentLimits } = settings
    /** Only github.com limits content creation and points. */
    const rationed = () => settings.paceRequests && contentLimits

    /** The wait for the limits on content-creating requests of all endpoints. */
    const laneWait: Wait = (_, now) => [
      rationed()
        ? Math.max(
            untilRoom(created, minute, lane.perMinute, 1, now),
            untilRoom(created, hour, lane.perHour, 1, now)
          )
        : 0,
      "SecondaryLimit"
    ]

    const pointsWait: Wait = ({ creates, endpoint, resource }, now) => {
      const most = resource === "graphql" ? (lane.pointsPerMinute * 20) / 9 : lane.pointsPerMinute
      const wait = rationed() ? untilRoom(points.get(endpoint) ?? [], minute, most, creates ? 5 : 1, now) : 0
      return [wait, "SecondaryLimit"]
    }

    const quotaWait: Wait = (weight, now) => {
      const paused = Math.max(pauses.get(undefined) ?? 0, pauses.get(weight.resource) ?? 0) - now
      let wait = Math.max(0, paused)
      let kind: FailureKind = "SecondaryLimit"
      const window = windows.get(weight.resource)
      if (window !== undefined && window.resetsAt > now) {
        if (window.budget.remaining <= 0) {
          wait = Math.max(wait, window.resetsAt - now)
          kind = "PrimaryLimit"
        } else if (settings.paceRequests) {
          // Pacing alone never fails a request.
          const pace = Math.min(maxWait, paceOf(window.budget, window.resetsAt - now))
          if (pace > 0) wait = Math.max(wait, (lastSlot.get(weight.resource) ?? 0) + pace - now)
        }
      }
      return [wait, kind]
    }

    const spend = (weight: Weight, now: number) => {
      lastSlot.set(weight.resource, now)
      const spent = points.get(weight.endpoint) ?? []
      trim(spent, now - minute)
      spent.push([now, weight.creates ? 5 : 1])
      points.set(weight.endpoint, spent)
      if (weight.creates) {
        trim(created, now - hour)
        created.push([now, 1])
      }
      const window = windows.get(weight.resource)
      if (window !== undefined && window.budget.remaining > 0) {
        const remaining = window.budget.remaining - 1
        windows.set(weight.resource, {
          ...window,
          budget: { ...window.budget, remaining, used: window.budget.used + 1 }
        })
      }
    }

    const pass = (weight: Weight, waitFor: Wait): Effect.Effect<number, ApiFailure> =>
      Effect.flatMap(Monotonic.millis, (now) => {
        const [wait, kind] = waitFor(weight, now)
        if (wait <= 0) return Effect.succeed(now)
        return Effect.flatMap(Effect.all([timeLeft, Clock.currentTimeMillis]), ([left, date]) => {
          const window = windows.get(weight.resource)
          return wait > maxWait || wait >= left
            ? Effect.fail(
                new ApiFailure({
                  kind,
                  endpoint: weight.endpoint,
                  message: `the rate limit allows the next request in ${Math.ceil(wait / 1000)} s`,
                  retryAfter: Math.ceil(wait),
                  remaining: window?.budget.remaining,
                  reset: window?.budget.reset ?? Math.ceil((date + wait) / 1000)
                })
              )
            : Effect.zipRight(Effect.sleep(wait), pass(weight, waitFor))
        })
      })

    return {
      through: (weight) => (request) =>
        Effect.suspend(() => {
          let taken = 0
          const slot = Effect.uninterruptibleMask((restore) =>
            Effect.map(restore(places.take(1)), (permits) => {
              taken = permits
            })
          )
          // Each limit has a semaphore, so that a request waits only for requests with the same limit. The slot for
          // concurrent requests is taken before the last check, which then sees limits that were reached while waiting.
          const quota = Effect.zipRight(slot, pass(weight, quotaWait)).pipe(
            Effect.map((now) => spend(weight, now)),
            turn(`resource ${weight.resource}`).withPermits(1)
          )
          const endpoint = pass(weight, pointsWait).pipe(
            Effect.zipRight(quota),
            turn(`endpoint ${weight.endpoint}`).withPermits(1)
          )
          const entered = weight.creates
            ? turn("creates").withPermits(1)(Effect.zipRight(pass(weight, laneWait), endpoint))
            : endpoint
          return Effect.ensuring(
            Effect.zipRight(entered, request),
            Effect.suspend(() => (taken === 0 ? Effect.void : places.release(taken)))
          )
        }),
      observe: (headers) =>
        Effect.flatMap(Effect.all([Monotonic.millis, Clock.currentTimeMillis]), ([now, date]) => {
          contentLimits ||= isGitHubAnswer(headers)
          const seen = limitHeaders(headers, date)
          if (seen === undefined) return Effect.succeed(undefined)
          const before = windows.get(seen.resource)
          const late = before !== undefined && before.budget.reset > seen.reset
          if (!late) {
            windows.set(seen.resource, {
              budget: toBudget(seen.resource, seen),
              resetsAt: now + seen.toReset
            })
          }
          return Effect.as(
            Metric.set(Metric.tagged(remainingMetric, "resource", seen.resource), seen.remaining),
            seen.remaining
          )
        }),
      pause: (resource, millis) =>
        Effect.map(Monotonic.millis, (now) => {
          pauses.set(resource, Math.max(pauses.get(resource) ?? 0, now + millis))
        }),
      known: Effect.sync(() => [...windows.values()].map((window) => window.budget))
    }
  })
