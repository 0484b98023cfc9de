import { type HttpApp, HttpRouter, type HttpServerRequest } from "@effect/platform"
import { Chunk, Context, type Duration, Effect, type Scope } from "effect"
import type { DurationInput } from "../../domain/time/DurationInput.js"
import { durationOption } from "./DurationOption.js"
import type { BodyLimits } from "./RequestBody.js"

/**
 * A group of paths answered by a platform app. The first mount whose `paths` match wins: a string matches itself and
 * everything below it (`"/"` everything), a RegExp is tested against the path without the query.
 *
 * @since 0.1.0
 * @category models
 */
export interface Mount {
  /** The bounded name under which metrics count the group. */
  readonly name: string
  /** The paths that belong to it. */
  readonly paths: ReadonlyArray<string | RegExp>
  /** Answers the requests. */
  readonly app: HttpApp.Default<unknown, Scope.Scope>
  /** Limits of request bodies; absent: those of the server. */
  readonly body?: Partial<BodyLimits>
  /** How long a handler may take until its answer begins; absent: the server's; infinite for long work. */
  readonly timeout?: Duration.Duration
  /** The methods that exist at a path, for 405 and OPTIONS; absent: the app answers both itself. */
  readonly methods?: (path: string) => ReadonlyArray<string>
}

/**
 * What a mount may say beside its app.
 *
 * @since 0.1.0
 * @category options
 */
export type MountOptions = Omit<Mount, "app" | "timeout"> & { readonly timeout?: DurationInput }

/**
 * A mount of any app; its services are taken once, from the layers around the server.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <E, R>(
  options: MountOptions,
  app: HttpApp.Default<E, R>
): Effect.Effect<Mount, never, Exclude<R, HttpServerRequest.HttpServerRequest | Scope.Scope>> =>
  Effect.map(
    Effect.context<Exclude<R, HttpServerRequest.HttpServerRequest | Scope.Scope>>(),
    (context): Mount => {
      const { timeout, ...rest } = options
      return {
        ...rest,
        ...(timeout === undefined ? {} : { timeout: durationOption("Mount: timeout", timeout) }),
        app: Effect.mapInputContext(
          app,
          (own: Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>) =>
            Context.merge(context, own) as Context.Context<R | HttpServerRequest.HttpServerRequest>
        )
      }
    }
  )

const exact = { caseSensitive: true, ignoreDuplicateSlashes: false, ignoreTrailingSlash: false }

/**
 * A mount of a router: 405, `Allow`, HEAD and OPTIONS follow from its routes. Paths match exactly, slashes included.
 *
 * @since 0.1.0
 * @category serving
 */
export const router = <E, R>(
  options: Omit<MountOptions, "methods">,
  routes: HttpRouter.HttpRouter<E, R>
): Effect.Effect<Mount, never, Exclude<R, HttpServerRequest.HttpServerRequest | Scope.Scope>> =>
  Effect.flatMap(HttpRouter.withRouterConfig(HttpRouter.toHttpApp(routes), exact), (app) =>
    make({ ...options, methods: methodsOf(routes) }, app)
  )

// As the router reads paths: a parameter may stand inside a segment, have an expression, and be optional at the end.
const parameter = String.raw`:\w+(?:\((?:[^()]|\([^()]*\))*\))?`
const placeholders = new RegExp(`(${parameter}|::|\\*)`)
const optional = new RegExp(String.raw`(/?)${parameter}\?$`)

const sourceOf = (path: string): string =>
  path
    .split(placeholders)
    .map((part, at) => {
      if (at % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
      return part === "*" ? ".*" : part === "::" ? ":" : "[^/]+"
    })
    .join("")

const pattern = (path: string): RegExp => {
  const last = optional.exec(path)
  return last === null
    ? new RegExp(`^${sourceOf(path)}$`)
    : new RegExp(`^${sourceOf(path.slice(0, last.index))}(?:${last[1]}[^/]*)?$`)
}

/**
 * Which methods the routes of a router offer at a path. Routers mounted inside it are not seen.
 *
 * @since 0.1.0
 * @category serving
 */
export const methodsOf = <E, R>(
  routes: HttpRouter.HttpRouter<E, R>
): ((path: string) => ReadonlyArray<string>) => {
  const known = Chunk.toReadonlyArray(routes.routes).map((route) => ({
    method: route.method,
    pattern: pattern(route.prefix._tag === "Some" && route.path === "/" ? route.prefix.value : route.path)
  }))
  return (path) => {
    const methods = new Set<string>()
    for (const route of known) if (route.pattern.test(path)) methods.add(route.method)
    return Array.from(methods)
  }
}
