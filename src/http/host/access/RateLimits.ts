import { Clock, Context, Effect, Layer, Schema } from "effect"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import { HostError } from "../reply/HostError.js"
import type { Principal } from "./Principal.js"

export type Resource = "core" | "graphql"

/** The cost of a request in rate limit points. */
export interface RequestCharge {
  readonly principal: Principal
  readonly resource: Resource
  /**
   * Whether the request writes. A write costs five secondary points, a read one. Writes also count against the
   * content creation limits.
   */
  readonly writes: boolean
  /** The path template of the route, or GraphQL. Secondary points are counted per endpoint. */
  readonly endpoint: string
  /** Whether the request is free on the primary limit, as `/rate_limit` is. */
  readonly free?: boolean
  /** The cost in primary points. Default: 1. */
  readonly cost?: number
}

/** The state of a primary rate limit. `reset` is in seconds since the epoch. */
export interface RateWindow {
  readonly resource: Resource
  readonly limit: number
  readonly used: number
  readonly remaining: number
  readonly reset: number
}

const exactly = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const Natural = Schema.Int.pipe(Schema.nonNegative())
const Count = exactly(Natural)

/** The limits to enforce. An absent limit is not enforced. */
export const RateLimitSettings = Schema.Struct({
  core: Count,
  graphql: Count,
  anonymous: Count,
  windowSeconds: exactly(Schema.Int.pipe(Schema.positive())),
  concurrency: Count,
  pointsPerMinute: Count,
  graphqlPointsPerMinute: Count,
  contentPerMinute: Count,
  contentPerHour: Count,
  /** The value of `Retry-After` on a secondary limit error in seconds; `none` omits the header. */
  retryAfter: exactly(Schema.Union(Natural, Schema.Literal("none"))),
  status: exactly(Schema.Literal(403, 429))
})

export interface RateLimitOptions extends Schema.Schema.Type<typeof RateLimitSettings> {
  /** The clock in milliseconds since the epoch. Default: Effect's clock. */
  readonly clock?: Effect.Effect<number>
}

/** The limits that GitHub documents for a user's token. */
export const documented: RateLimitOptions = {
  core: 5000,
  graphql: 5000,
  anonymous: 60,
  concurrency: 100,
  pointsPerMinute: 900,
  graphqlPointsPerMinute: 2000,
  contentPerMinute: 80,
  contentPerHour: 500
}

export class RateLimits extends Context.Tag("chainstore/http/host/Limits")<
  RateLimits,
  {
    /** Counts a request and runs `answer`, or fails if a limit is exceeded. */
    readonly enforce: <A, E, R>(
      charge: RequestCharge,
      answer: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | HostError, R>
    /** Refunds the primary point of a request with a 304 reply. */
    readonly refund: (charge: RequestCharge) => Effect.Effect<void>
    readonly window: (principal: Principal, resource: Resource) => Effect.Effect<RateWindow>
  }
>() {}

interface Counter {
  used: number
  /** The time in milliseconds at which the counter resets. */
  until: number
}

const documentation = "rest/using-the-rest-api/rate-limits-for-the-rest-api"

/** Counters with an expiry time, by key. Expired counters are removed when there are more than 10,000. */
const counters = () => {
  const all = new Map<string, Counter>()
  return (key: string, now: number, length: number): Counter => {
    if (all.size > 10_000) {
      for (const [old, counter] of all) if (counter.until <= now) all.delete(old)
    }
    const found = all.get(key)
    if (found !== undefined && found.until > now) return found
    const fresh = { used: 0, until: now + length }
    all.set(key, fresh)
    return fresh
  }
}

export const layer = (options: RateLimitOptions) =>
  Layer.sync(RateLimits, () => {
    const clock = options.clock ?? Monotonic.millis
    const both = Effect.all([clock, options.clock ?? Clock.currentTimeMillis])
    const counter = counters()
    const running = new Map<string, number>()
    const status = options.status ?? 403
    const length = (options.windowSeconds ?? 3600) * 1000

    const ceiling = (principal: Principal, resource: Resource): number | undefined =>
      resource === "graphql"
        ? options.graphql
        : principal.login === undefined
          ? (options.anonymous ?? options.core)
          : options.core

    const primary = (principal: Principal, resource: Resource, now: number) =>
      counter(`${principal.id} ${resource}`, now, length)

    const window = (principal: Principal, resource: Resource, now: number, date: number): RateWindow => {
      const limit = ceiling(principal, resource)
      if (limit === undefined) {
        return {
          resource,
          limit: 5000,
          used: 0,
          remaining: 5000,
          reset: Math.ceil(date / 3_600_000 + 1) * 3600
        }
      }
      const { until, used } = primary(principal, resource, now)
      return {
        resource,
        limit,
        used: Math.min(used, limit),
        remaining: Math.max(limit - used, 0),
        reset: Math.ceil((date + Math.round(until - now)) / 1000)
      }
    }

    const secondary = () =>
      new HostError({
        status,
        message:
          "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID.",
        documentation: `${documentation}#about-secondary-rate-limits`,
        headers: options.retryAfter === "none" ? {} : { "retry-after": String(options.retryAfter ?? 60) }
      })

    const spend = (
      key: string,
      now: number,
      milliseconds: number,
      cost: number,
      most: number | undefined
    ): boolean => {
      if (most === undefined) return true
      const at = counter(key, now, milliseconds)
      if (at.used + cost > most) return false
      at.used += cost
      return true
    }

    const admit = (charge: RequestCharge, now: number): HostError | undefined => {
      const { principal, resource } = charge
      const limit = ceiling(principal, resource)
      if (limit !== undefined && charge.free !== true) {
        const at = primary(principal, resource, now)
        if (at.used >= limit) {
          return new HostError({
            status,
            message:
              principal.login === undefined
                ? "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)"
                : `API rate limit exceeded for user ID ${principal.id}.`,
            documentation: `${documentation}#about-primary-rate-limits`
          })
        }
        at.used += charge.cost ?? 1
      }
      const points = charge.writes ? 5 : 1
      const allowed =
        spend(
          `${principal.id} points ${charge.endpoint}`,
          now,
          60_000,
          points,
          resource === "graphql" ? options.graphqlPointsPerMinute : options.pointsPerMinute
        ) &&
        (!charge.writes ||
          (spend(`${principal.id} minute`, now, 60_000, 1, options.contentPerMinute) &&
            spend(`${principal.id} hour`, now, 3_600_000, 1, options.contentPerHour)))
      return allowed ? undefined : secondary()
    }

    const enter = (charge: RequestCharge) =>
      Effect.flatMap(clock, (now) => {
        const { id } = charge.principal
        const inside = running.get(id) ?? 0
        const refusal =
          options.concurrency !== undefined && inside >= options.concurrency
            ? secondary()
            : admit(charge, now)
        if (refusal !== undefined) return Effect.fail(refusal)
        running.set(id, inside + 1)
        return Effect.void
      })

    const leave = ({ principal: { id } }: RequestCharge) =>
      Effect.sync(() => {
        const inside = (running.get(id) ?? 1) - 1
        if (inside === 0) running.delete(id)
        else running.set(id, inside)
      })

    const {
      clock: _clock,
      retryAfter: _advice,
      status: _status,
      windowSeconds: _length,
      ...enforced
    } = options
    const unlimited = Object.values(enforced).every((limit) => limit === undefined)

    return RateLimits.of({
      enforce: (charge, answer) =>
        unlimited
          ? answer
          : Effect.acquireUseRelease(
              enter(charge),
              () => answer,
              () => leave(charge)
            ),
      refund: (charge) =>
        Effect.map(clock, (now) => {
          if (ceiling(charge.principal, charge.resource) === undefined || charge.free === true) return
          const at = primary(charge.principal, charge.resource, now)
          at.used = Math.max(0, at.used - 1)
        }),
      window: (principal, resource) =>
        Effect.map(both, ([now, date]) => window(principal, resource, now, date))
    })
  })

/** The rate limit headers of a reply. */
export const headers = (window: RateWindow): Readonly<Record<string, string>> => ({
  "x-ratelimit-limit": String(window.limit),
  "x-ratelimit-remaining": String(window.remaining),
  "x-ratelimit-used": String(window.used),
  "x-ratelimit-reset": String(window.reset),
  "x-ratelimit-resource": window.resource
})
