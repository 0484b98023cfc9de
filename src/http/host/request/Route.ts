import { Effect, type Scope, type Utils } from "effect"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import { type Problem, requiresAuthentication } from "../reply/Problem.js"
import type { Reply } from "../reply/Reply.js"
import type { Hosted } from "../repository/Repositories.js"
import type { Call } from "./Call.js"

/** What a handler may fail with: a refusal in GitHub's words, or what the engine below could not do. */
export type Failure = Problem | RemoteError | AmbiguousWriteError | ValidationError | RefMoved

export type Answer = Effect.Effect<Reply, Failure, Scope.Scope>

/** An operation by method and path template (see `Endpoint`), with its page below docs.github.com. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly docs: string
  /** The quota that pays for it. Default `core`. */
  readonly resource?: "core" | "free"
}

/** An operation and its handler. */
export interface Route extends Operation {
  readonly handle: (call: Call) => Answer
}

/** What a handler does: a reply, an effect of one, or the steps to one. */
type Handled =
  | Reply
  | Answer
  | Generator<Utils.YieldWrap<Effect.Effect<any, Failure, Scope.Scope>>, Reply, never>

const answer = (handled: Handled): Answer => {
  if (Effect.isEffect(handled)) return handled
  return "next" in handled ? Effect.gen(() => handled) : Effect.succeed(handled)
}

/** The route of an operation that needs no repository, or opens it itself. */
export const make = (operation: Operation, handle: (call: Call) => Handled): Route => ({
  ...operation,
  handle: (call) => answer(handle(call))
})

/** The route of an operation for whoever has a token; `login` is the account's. */
export const signedIn = (operation: Operation, handle: (call: Call, login: string) => Handled): Route =>
  make(operation, (call) => {
    const { login } = call.principal
    return login === undefined ? requiresAuthentication : handle(call, login)
  })

const opening =
  (right: "reading" | "writing" | "administering") =>
  (operation: Operation, handle: (call: Call, hosted: Hosted) => Handled): Route =>
    make(operation, (call) =>
      Effect.flatMap(
        call.host.repositories[right](call.principal, call.parameters["owner"]!, call.parameters["repo"]!),
        (hosted) => answer(handle(call, hosted))
      )
    )

/** The route of an operation for whoever may read its repository. */
export const read = opening("reading")

/** The route of an operation for whoever may write to its repository. */
export const write = opening("writing")

/** The route of an operation for whoever may change the settings of its repository. */
export const administer = opening("administering")

/** A segment of a path template: a literal, or a parameter of one or of many segments. */
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

/** Literals come before parameters, and of two parameters of many segments the one with more literals behind it. */
const bySpecificity = (a: ReadonlyArray<Segment>, b: ReadonlyArray<Segment>): number => {
  const at = a.findIndex(({ rank }, index) => rank !== b[index]?.rank)
  return at < 0 || b[at] === undefined ? b.length - a.length : a[at]!.rank - b[at].rank
}

export interface Match {
  readonly route: Route
  readonly parameters: Readonly<Record<string, string>>
}

/** The values of the parameters of a path that fits a template. */
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

/** Finds the route of a request by its path as it was sent; a literal segment wins over a parameter. */
export const matcher = (routes: ReadonlyArray<Route>) => {
  interface Ordered {
    readonly route: Route
    readonly template: ReadonlyArray<Segment>
    readonly names: ReadonlyArray<string>
    /** The last literal whose place is fixed: most paths are told from a template by it. */
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
  return (method: string, path: string): Match | undefined => {
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
