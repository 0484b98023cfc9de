import { Effect, type Scope, type Utils } from "effect"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import { type HostError, requiresAuthentication } from "../reply/HostError.js"
import type { Reply } from "../reply/Reply.js"
import type { HostedRepository } from "../repository/Repositories.js"
import type { HostCall } from "./HostCall.js"

/** The failures of a handler: an error reply, or a failure of the Git engine. */
export type HandlerFailure = HostError | RemoteError | AmbiguousWriteError | ValidationError | RefMoved

export type HandlerEffect = Effect.Effect<Reply, HandlerFailure, Scope.Scope>

/** An operation with its method, path template (see `Endpoint`) and documentation page below docs.github.com. */
export interface RouteOperation {
  readonly method: string
  readonly path: string
  readonly docs: string
  /** The rate limit that the operation counts against. Default: `core`. */
  readonly resource?: "core" | "free"
}

/** An operation with its handler. */
export interface Route extends RouteOperation {
  readonly handle: (call: HostCall) => HandlerEffect
}

/** The result of a handler: a reply, an effect, or a generator. */
type HandlerResult =
  | Reply
  | HandlerEffect
  | Generator<Utils.YieldWrap<Effect.Effect<any, HandlerFailure, Scope.Scope>>, Reply, never>

const answer = (handled: HandlerResult): HandlerEffect => {
  if (Effect.isEffect(handled)) return handled
  return "next" in handled ? Effect.gen(() => handled) : Effect.succeed(handled)
}

/** A route that does not open a repository, or opens it itself. */
export const make = (operation: RouteOperation, handle: (call: HostCall) => HandlerResult): Route => ({
  ...operation,
  handle: (call) => answer(handle(call))
})

/** A route that requires a token. `login` is the account of the token. */
export const signedIn = (
  operation: RouteOperation,
  handle: (call: HostCall, login: string) => HandlerResult
): Route =>
  make(operation, (call) => {
    const { login } = call.principal
    return login === undefined ? requiresAuthentication : handle(call, login)
  })

const withRepository =
  (right: "openForRead" | "openForWrite" | "openForAdministration") =>
  (operation: RouteOperation, handle: (call: HostCall, hosted: HostedRepository) => HandlerResult): Route =>
    make(operation, (call) =>
      Effect.flatMap(
        call.host.repositories[right](call.principal, call.parameters["owner"]!, call.parameters["repo"]!),
        (hosted) => answer(handle(call, hosted))
      )
    )

/** A route that opens its repository for reading. */
export const read = withRepository("openForRead")

/** A route that opens its repository for writing. */
export const write = withRepository("openForWrite")

/** A route that opens its repository for administration. */
export const administer = withRepository("openForAdministration")

/** A segment of a path template: a literal, a parameter of one segment, or a parameter of several segments. */
interface Segment {
  readonly rank: 0 | 1 | 2
  readonly text: string
}

const [literal, one, many] = [0, 1, 2] as const

const segmentsOf = (path: string): ReadonlyArray<Segment> =>
  path
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) =>
      segment.startsWith("{")
        ? { rank: /[+*]/.test(segment) ? many : one, text: segment.replace(/[{}+*]/g, "") }
        : { rank: literal, text: segment }
    )

/**
 * Orders templates by specificity: literals precede parameters. Of two templates with a multi-segment parameter, the
 * one with more segments is first.
 */
const bySpecificity = (a: ReadonlyArray<Segment>, b: ReadonlyArray<Segment>): number => {
  const at = a.findIndex(({ rank }, index) => rank !== b[index]?.rank)
  return at < 0 || b[at] === undefined ? b.length - a.length : a[at]!.rank - b[at].rank
}

export interface RouteMatch {
  readonly route: Route
  readonly parameters: Readonly<Record<string, string>>
}

/** The parameter values of a path that matches a template. */
const valuesOf = (
  template: ReadonlyArray<Segment>,
  path: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  const values: Array<string> = []
  let at = 0
  for (let index = 0; index < template.length; index++) {
    const { rank, text } = template[index]!
    const behind = template.length - index - 1
    const end = rank === many ? path.length - behind : at + 1
    const first = path[at]
    if (first === undefined || end <= at) return undefined
    if (rank === literal ? first !== text : first === "" && (rank === one || behind > 0)) return undefined
    if (rank !== literal) values.push(rank === one ? first : path.slice(at, end).join("/"))
    at = end
  }
  return at === path.length ? values : undefined
}

const decode = (segment: string): string | undefined => {
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** Creates a function that finds the route of a path as sent. Literal segments take precedence over parameters. */
export const matcher = (routes: ReadonlyArray<Route>) => {
  interface Ordered {
    readonly route: Route
    readonly template: ReadonlyArray<Segment>
    readonly names: ReadonlyArray<string>
    /** The index of the last literal with a fixed position. It rules out most templates quickly. */
    readonly last: number
  }
  const ordered = new Map<string, ReadonlyArray<Ordered>>()
  for (const route of routes) {
    const template = segmentsOf(route.path)
    const end = template.findIndex(({ rank }) => rank === many)
    const last = template.slice(0, end < 0 ? undefined : end).findLastIndex(({ rank }) => rank === literal)
    const names = template.filter(({ rank }) => rank !== literal).map(({ text }) => text)
    const some = [...(ordered.get(route.method) ?? []), { route, template, names, last }]
    ordered.set(
      route.method,
      some.sort((a, b) => bySpecificity(a.template, b.template))
    )
  }
  return (method: string, path: string): RouteMatch | undefined => {
    const segments: Array<string> = []
    for (const raw of path.split("/").slice(1)) {
      const segment = decode(raw)
      if (segment === undefined) return undefined
      segments.push(segment)
    }
    if (segments.length === 1 && segments[0] === "") segments.pop()
    for (const { last, names, route, template } of ordered.get(method === "HEAD" ? "GET" : method) ?? []) {
      if (last >= 0 && template[last]!.text !== segments[last]) continue
      const values = valuesOf(template, segments)
      if (values === undefined) continue
      return { route, parameters: Object.fromEntries(names.map((name, index) => [name, values[index]!])) }
    }
    return undefined
  }
}
