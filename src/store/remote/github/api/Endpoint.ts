import * as Schema from "effect/Schema"
import type * as Domain from "../../../../domain/http/Endpoint.js"

export type Method = Domain.Method

/** The name of a path parameter without `+` or `*`. */
type Bare<Marked extends string> = Marked extends `+${infer Name}`
  ? Name
  : Marked extends `${infer Name}*`
    ? Name
    : Marked

/** The names between braces of a path template. */
export type ParameterOf<Path extends string> = Path extends `${string}{${infer Marked}}${infer Rest}`
  ? Bare<Marked> | ParameterOf<Rest>
  : never

/**
 * One operation of GitHub's REST API: our client calls it, the host implements it, and a test holds it against GitHub's
 * OpenAPI description.
 *
 * In `path`, `{name}` is one segment. `{+name}` is any number of segments, which a client sends as they are (RFC 6570).
 * `{name*}` is any number of segments too, but a client encodes their slashes, because other operations continue behind
 * it: `commits/feature/status` would be the status of the commit `feature`.
 */
export interface Endpoint<
  Path extends string = string,
  Body = unknown,
  Reply = unknown,
  Query extends string = string
> extends Domain.Endpoint<Path, Body, Reply> {
  /** Its operation id in GitHub's OpenAPI description. */
  readonly id: string
  /** Its page below https://docs.github.com. */
  readonly docs: string
  readonly query: ReadonlyArray<Query>
  /** The status of a success. Writes that create or update have another one for the other case. */
  readonly status: number
  /** Whether it is idempotent, so that it can be sent again. */
  readonly repeatable: boolean
  /** Whether it counts as creating content in the secondary limits. */
  readonly creates: boolean
  /** The rate limit that it counts towards. */
  readonly resource: "core" | "free"
}

interface Details<Body, Reply, Query> {
  readonly docs: string
  readonly query?: ReadonlyArray<Query>
  readonly body?: Schema.Schema<Body, any>
  readonly status?: number
  readonly reply?: Schema.Schema<Reply, any>
  readonly repeatable?: boolean
  readonly resource?: "free"
}

const endpoint =
  (method: Method, status: number) =>
  <const Path extends string, Body = undefined, Reply = unknown, const Query extends string = never>(
    id: string,
    path: Path,
    details: Details<Body, Reply, Query>
  ): Endpoint<Path, Body, Reply, Query> => ({
    id,
    method,
    path,
    docs: `rest/${details.docs}`,
    query: details.query ?? [],
    body: details.body,
    status: details.status ?? status,
    reply: details.reply ?? (Schema.Unknown as unknown as Schema.Schema<Reply>),
    repeatable: details.repeatable ?? method === "GET",
    creates: method !== "GET",
    resource: details.resource ?? "core"
  })

export const get = endpoint("GET", 200)
export const put = endpoint("PUT", 200)
export const post = endpoint("POST", 201)
export const patch = endpoint("PATCH", 200)
export const del = endpoint("DELETE", 204)

/** The same operation with another schema of the reply, for another media type. */
export const withReply = <Path extends string, Body, Reply, Query extends string>(
  given: Omit<Endpoint<Path, Body, never, Query>, "reply">,
  reply: Schema.Schema<Reply, any>
): Endpoint<Path, Body, Reply, Query> => ({ ...given, reply })

/** The query parameters of a list that comes in pages. */
export const pages = ["page", "per_page"] as const
