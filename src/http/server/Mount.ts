import { type HttpApp, HttpRouter, type HttpServerRequest } from "@effect/platform"
import { Chunk, Context, type Duration, Effect, type Scope } from "effect"
import type { DurationInput } from "../../domain/time/DurationInput.js"
import { durationOption } from "./DurationOption.js"
import type { BodyLimits } from "./RequestBody.js"

/**
 * A group of paths that a platform app serves. The first mount with a matching path is used. A string matches itself and
 * all paths below it (`"/"` matches all paths). A RegExp is tested against the path without the query.
 *
 * @since 0.1.0
 * @category models
 */
export interface Mount {
  /** The route label of the group in metrics. */
  readonly name: string
  /** The paths of the group. */
  readonly paths: ReadonlyArray<string | RegExp>
  /** The app that serves the requests. */
  readonly app: HttpApp.Default<unknown, Scope.Scope>
  /** The limits of request bodies. Default: those of the server. */
  readonly body?: Partial<BodyLimits>
  /** The time limit until a reply begins. Default: that of the server. May be infinite. */
  readonly timeout?: Duration.Duration
  /** Returns the methods of a path, for 405 and OPTIONS. If absent, the app handles both itself. */
  readonly methods?: (path: string) => ReadonlyArray<string>
}

/**
 * The options of a mount.
 *
 * @since 0.1.0
 * @category options
 */
export type MountOptions = Omit<Mount, "app" | "timeout"> & { readonly timeout?: DurationInput }

/**
 * Creates a mount of any app. The app's services are taken once, from the context of this effect.
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
 * Creates a mount of a router. 405, `Allow`, HEAD and OPTIONS are derived from its routes. Paths match exactly, including
 * slashes.
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

// The path syntax of the router: a parameter may be part of a segment, have a pattern, and be optional at the end.
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
 * Returns a function that lists the methods of a router at a path. Routers mounted inside the router are not included.
 *
 * @since 0.1.0
 * @category serving
 */
export const methodsOf = <E, R>(
  routes: HttpRouter.HttpRouter<E, R>
): ((path: string) => ReadonlyArray<string>) => {
  const declared = Chunk.toReadonlyArray(routes.routes).map((route) => ({
    method: route.method,
    pattern: pattern(route.prefix._tag === "Some" && route.path === "/" ? route.prefix.value : route.path)
  }))
  return (path) => {
    const methods = new Set<string>()
    for (const route of declared) if (route.pattern.test(path)) methods.add(route.method)
    return Array.from(methods)
  }
}
