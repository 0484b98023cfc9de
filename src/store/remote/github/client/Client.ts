import type * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AuthError } from "../../../../domain/errors/StoreError.js"
import { type Endpoint, getRepository, type ParameterOf } from "../api/Api.js"
import { encodePath } from "./Address.js"
import { ApiFailure } from "./ApiFailure.js"
import type { Credentials } from "./Credentials.js"
import type { HeaderRecord } from "./LimitHeaders.js"
import type { Settings } from "./Options.js"
import { makePermissionErrors } from "./PermissionErrors.js"
import type { RateLimiter } from "./RateLimiter.js"
import { classifyGraphql } from "./ReplyClassification.js"
import { type ApiRequest, type ApiResponse, makeTransport } from "./Transport.js"

/** The arguments of a call to an endpoint. */
export type Arguments<Path extends string, Body, Query extends string> = {
  readonly path: { readonly [Name in Exclude<ParameterOf<Path>, "owner" | "repo">]: string }
  readonly query?: { readonly [Name in Query]?: string | number | boolean | undefined }
  readonly etag?: string | undefined
  readonly accept?: string | undefined
} & (Body extends undefined ? {} : { readonly body: Body })

/** A decoded reply. `value` is none only for 304. */
export interface Reply<A> {
  readonly status: number
  readonly value: Option.Option<A>
  readonly etag: string | undefined
  readonly headers: HeaderRecord
  /** The generation of the credential that the ETag belongs to. */
  readonly generation: number
}

export type CallFailure = ApiFailure | AuthError

/** GitHub's API as functions. Every request of the remote is one of `call`, `graphql` and `raw`. */
export interface Client {
  readonly settings: Settings
  readonly limits: RateLimiter
  readonly authenticated: boolean
  readonly credentials: Credentials
  /** Changes with every new authorization header. */
  readonly generation: Effect.Effect<number, ApiFailure | AuthError>
  readonly call: <Path extends string, Body, A, Query extends string>(
    endpoint: Endpoint<Path, Body, A, Query>,
    args: Arguments<Path, Body, Query>
  ) => Effect.Effect<Reply<A>, CallFailure>
  /** Runs a GraphQL document. With `partial`, errors beside data are reported as `partial` instead of failing. */
  readonly graphql: <A, I>(
    document: string,
    variables: { readonly [name: string]: unknown },
    data: Schema.Schema<A, I>,
    options?: { readonly mutation?: boolean; readonly partial?: boolean }
  ) => Effect.Effect<{ readonly data: A; readonly partial: boolean }, CallFailure>
  /** Reads a file from `rawUrl`, without the token. */
  readonly raw: (
    ref: string,
    path: string,
    etag?: string | undefined
  ) => Effect.Effect<Reply<Uint8Array>, CallFailure>
}

const jsonMedia = "application/vnd.github+json"

/** The media type of the unencoded bytes of a file. */
export const rawMedia = "application/vnd.github.raw+json"

/** The media type of a directory with its own id. */
export const objectMedia = "application/vnd.github.object+json"

const decoder = new TextDecoder()

const corrupt = (exchange: ApiRequest, answer: ApiResponse, message: string, cause?: unknown) =>
  new ApiFailure({ kind: "Corrupt", endpoint: exchange.id, message, status: answer.status, cause })

const parseJson = (exchange: ApiRequest, answer: ApiResponse) =>
  Effect.try({
    try: (): unknown => JSON.parse(decoder.decode(answer.bytes)),
    catch: (cause) => corrupt(exchange, answer, "the answer is not JSON, or was cut short", cause)
  })

const decodeAs =
  <A, I>(exchange: ApiRequest, schema: Schema.Schema<A, I>, answer: ApiResponse) =>
  (value: unknown): Effect.Effect<A, ApiFailure> =>
    Either.match(Schema.decodeUnknownEither(schema)(value), {
      onLeft: (error) =>
        Effect.fail(
          corrupt(
            exchange,
            answer,
            `the answer is not what the API describes: ${error.message.slice(0, 400)}`
          )
        ),
      onRight: Effect.succeed
    })

const GraphqlAnswer = Schema.Struct({
  data: Schema.optional(Schema.NullOr(Schema.Unknown)),
  errors: Schema.optional(
    Schema.Array(Schema.Struct({ type: Schema.optional(Schema.String), message: Schema.String }))
  )
})

/** Whether a text contains half of a surrogate pair, which cannot be encoded. */
const isUnfit = (value: unknown) => typeof value === "string" && /\p{Surrogate}/u.test(value)

/** Whether a name has a segment `.` or `..`, which servers resolve to another path. */
const leadsAway = (name: string) => /(^|\/)\.{1,2}(\/|$)/.test(name)

const noName = (endpoint: string) =>
  new ApiFailure({
    kind: "Invalid",
    endpoint,
    message: "this can be the name of no branch, commit or path",
    hint: "leave out half characters and the segments . and .."
  })

const isDone = (data: unknown) =>
  typeof data === "object" && data !== null && Object.values(data).every((field) => field !== null)

const reply = <A>(answer: ApiResponse, value: Option.Option<A>): Reply<A> => ({
  status: answer.status,
  value,
  etag: answer.headers["etag"],
  headers: answer.headers,
  generation: answer.generation
})

/** Derives the client from the endpoints' declarations. */
export const makeClient = (settings: Settings): Effect.Effect<Client, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { credentials, limits, perform } = yield* makeTransport(settings)
    const { address } = settings

    const addressOf = (
      path: string,
      given: { readonly [name: string]: string },
      query: { readonly [name: string]: string | number | boolean | undefined }
    ) => {
      const parameters: typeof given = { owner: address.owner, repo: address.repo, ...given }
      const filled = path.replace(/\{(\+?)(\w+)\*?\}/g, (_, mark: string, name: string) =>
        (mark === "+" ? encodePath : encodeURIComponent)(parameters[name] ?? "")
      )
      const search = Object.entries(query)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
        .join("&")
      return `${address.api}${filled}${search === "" ? "" : `?${search}`}`
    }

    const call: Client["call"] = <Path extends string, Body, A, Query extends string>(
      endpoint: Endpoint<Path, Body, A, Query>,
      args: Arguments<Path, Body, Query>
    ): Effect.Effect<Reply<A>, CallFailure> => {
      const unfit = [...Object.values<string>(args.path), ...Object.values(args.query ?? {})].find(isUnfit)
      if (unfit !== undefined || Object.values<string>(args.path).some(leadsAway)) {
        return Effect.fail(noName(endpoint.id))
      }
      const exchange: ApiRequest = {
        id: endpoint.id,
        method: endpoint.method,
        url: addressOf(endpoint.path, args.path, args.query ?? {}),
        accept: args.accept ?? jsonMedia,
        body: "body" in args ? JSON.stringify(args.body) : undefined,
        etag: args.etag,
        resource: endpoint.resource,
        creates: endpoint.creates,
        authenticate: true
      }
      const sent = perform(exchange, endpoint.repeatable, (answer): Effect.Effect<Reply<A>, ApiFailure> => {
        if (answer.status === 304) return Effect.succeed(reply<A>(answer, Option.none()))
        const value: Effect.Effect<unknown, ApiFailure> =
          args.accept === rawMedia
            ? Effect.succeed(answer.bytes)
            : answer.status === 204
              ? Effect.succeed({})
              : parseJson(exchange, answer)
        return value.pipe(
          Effect.flatMap(decodeAs(exchange, endpoint.reply, answer)),
          Effect.map((decoded) => reply(answer, Option.some(decoded)))
        )
      })
      return endpoint.method === "GET" ? sent : rights(sent)
    }
    const rights = makePermissionErrors(call(getRepository, { path: {} }))

    return {
      settings,
      limits,
      credentials,
      authenticated: credentials.present || Option.isSome(settings.session),
      generation: Effect.map(credentials.current, (credential) => credential.generation),
      call,
      graphql: (document, variables, data, options) => {
        const exchange: ApiRequest = {
          id: "graphql",
          method: "POST",
          url: address.graphql,
          accept: jsonMedia,
          body: JSON.stringify({ query: document, variables }),
          etag: undefined,
          resource: "graphql",
          creates: options?.mutation === true,
          authenticate: true
        }
        return perform(exchange, options?.mutation !== true, (answer) =>
          Effect.gen(function* () {
            const json = yield* parseJson(exchange, answer)
            const { errors = [], data: present } = yield* decodeAs(exchange, GraphqlAnswer, answer)(json)
            const usable = present !== undefined && present !== null
            // A mutation whose own field is present has happened, even if other fields failed.
            const whole =
              errors.length === 0 ||
              options?.partial === true ||
              (options?.mutation === true && isDone(present))
            if (!usable || !whole) {
              const now = yield* Clock.currentTimeMillis
              return yield* classifyGraphql(errors, answer.headers, now)
            }
            return {
              data: yield* decodeAs(exchange, data, answer)(present),
              partial: errors.length > 0
            }
          })
        )
      },
      raw: (ref, path, etag) => {
        if ([ref, path].some((name) => isUnfit(name) || leadsAway(name))) return Effect.fail(noName("raw"))
        const exchange: ApiRequest = {
          id: "raw",
          method: "GET",
          url: `${address.raw}/${address.owner}/${address.repo}/${encodePath(ref)}/${encodePath(path)}`,
          accept: "*/*",
          body: undefined,
          etag,
          resource: "raw",
          creates: false,
          authenticate: false
        }
        return perform(exchange, true, (answer) =>
          Effect.succeed(reply(answer, answer.status === 304 ? Option.none() : Option.some(answer.bytes)))
        )
      }
    }
  })
