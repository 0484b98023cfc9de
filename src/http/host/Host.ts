import type { IncomingMessage } from "node:http"
import { type HttpApp, HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Context, Duration, Effect, Layer, type Scope } from "effect"
import type { DurationInput } from "../../domain/time/DurationInput.js"
import { durationOption } from "../server/DurationOption.js"
import { ArchiveTokens } from "./access/ArchiveTokens.js"
import * as Authentication from "./access/Authentication.js"
import { anonymous, type Principal } from "./access/Principal.js"
import * as RateLimits from "./access/RateLimits.js"
import * as Tokens from "./access/Tokens.js"
import * as CorsHeaders from "./CorsHeaders.js"
import * as EndpointKind from "./EndpointKind.js"
import { inject } from "./FaultInjection.js"
import * as GraphQl from "./graphql/GraphQl.js"
import * as HostErrorFromCause from "./HostErrorFromCause.js"
import * as ResponseHeaders from "./ResponseHeaders.js"
import { badRequest, HostError, notFound, toReply } from "./reply/HostError.js"
import * as Links from "./reply/Links.js"
import * as MediaType from "./reply/MediaType.js"
import * as Reply from "./reply/Reply.js"
import { asWriter, Faults } from "./repository/Faults.js"
import * as GitProcessSlots from "./repository/GitProcessSlots.js"
import { Repositories } from "./repository/Repositories.js"
import * as BodyStream from "./request/BodyStream.js"
import * as FairScheduler from "./request/FairScheduler.js"
import { type HostCall, type HostServices, type Version, versions } from "./request/HostCall.js"
import * as MemoryBudget from "./request/MemoryBudget.js"
import * as ReplyCache from "./request/ReplyCache.js"
import * as Route from "./request/Route.js"
import * as RestRoutes from "./rest/RestRoutes.js"
import * as GitSmartHttp from "./transport/GitSmartHttp.js"
import * as RawFileRoute from "./transport/RawFileRoute.js"
import * as WebRedirect from "./WebRedirect.js"

export interface HostOptions extends GitProcessSlots.GitProcessLimits {
  /** Whether REST is also served at `/`, as on api.github.com, and GraphQL at `/graphql`. */
  readonly atRoot: boolean
  /** The public URL of the service, if it differs from the `Host` of requests. */
  readonly publicUrl?: string | undefined
  /** The maximum size of the body of an API request. The default, 150 MiB, fits a file of 100 MB in base64. */
  readonly maxBodyBytes?: number
  readonly maxPushBytes?: number
  /** How long the sender of a large body or of a push may pause. Default: one minute. */
  readonly bodyIdle?: DurationInput
  /**
   * How long a small body may take to arrive. After this time, the sender of a larger body must have sent at least 8
   * KiB per second. Default: 30 seconds.
   */
  readonly bodyTime?: DurationInput
  /** How long the connection of a running request may be inactive. Default: 15 minutes. */
  readonly connectionIdle?: DurationInput
  /** The memory for large request and reply bodies in bytes. Requests wait while it is exhausted. */
  readonly maxBytesInFlight?: number
  /** The size of the reply cache in bytes. Default: 32 MiB. */
  readonly maxRememberedBytes?: number
}

const mebibyte = 1024 * 1024

/** The GitHub-compatible host as an app, with its paths and limits. */
export class Host extends Context.Tag("chainstore/http/host/Host")<
  Host,
  {
    readonly app: HttpApp.Default<never, Scope.Scope>
    /** The path patterns of the host, apart from REST at `/`. */
    readonly paths: ReadonlyArray<string | RegExp>
    readonly maxBodyBytes: number
    readonly maxPushBytes: number
    readonly bodyTime: Duration.Duration
  }
>() {}

const noAgent = new HostError({
  status: 403,
  message:
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required).",
  documentation: "rest/using-the-rest-api/troubleshooting-the-rest-api#user-agent-required"
})

const versionOf = (requested: string | undefined): Version | HostError => {
  if (requested === undefined) return versions[0]
  return (
    versions.find((version) => version === requested) ??
    badRequest(
      `The API version ${JSON.stringify(requested.slice(0, 40))} is not supported. Use one of ${versions.join(", ")}.`
    )
  )
}

/** A request and the kind of endpoint that it is for. */
interface RoutedRequest extends EndpointKind.EndpointMatch {
  readonly request: HttpServerRequest.HttpServerRequest
  /** The path without the prefix of the endpoint. */
  readonly path: string
  /** The query without `?`; undefined if there is none. */
  readonly query: string | undefined
}

/** What processing learns about a request, for its reply. */
interface RequestState {
  documentation: string
  principal: Principal
  version: Version
  charge: RateLimits.RequestCharge | undefined
}

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const routers = {
  rest: Route.matcher(RestRoutes.routes),
  git: Route.matcher(GitSmartHttp.routes),
  raw: Route.matcher([RawFileRoute.route]),
  codeload: Route.matcher([RestRoutes.codeload])
}
const preflight = Reply.toResponse(CorsHeaders.preflight)
const noQuery = new URLSearchParams()

const isApi = (kind: EndpointKind.EndpointKind) => kind === "rest" || kind === "graphql"

const mediaOf = (kind: EndpointKind.EndpointKind, headers: Request["headers"]): MediaType.Media =>
  kind === "rest" ? MediaType.fromAccept(headers["accept"]) : "json"

const routedRequest = (request: Request, atRoot: boolean): RoutedRequest => {
  const { url } = request
  const queryStart = url.indexOf("?")
  const whole = queryStart < 0 ? url : url.slice(0, queryStart)
  const { kind, prefix } = EndpointKind.fromPath(whole, atRoot)
  return {
    request,
    kind,
    prefix,
    path: whole.slice(prefix.length) || "/",
    query: queryStart < 0 ? undefined : url.slice(queryStart + 1)
  }
}

const make = (options: HostOptions) =>
  Effect.gen(function* () {
    const limits = yield* RateLimits.RateLimits
    const faults = yield* Faults
    const connectionIdle = Duration.toMillis(
      durationOption("Host: connectionIdle", options.connectionIdle ?? "15 minutes")
    )
    // Request and reply bodies have separate budgets, so that a request never waits for memory that it holds itself.
    const budget = (options.maxBytesInFlight ?? 512 * mebibyte) / 2
    const host: HostServices = {
      repositories: yield* Repositories,
      limits,
      archiveTokens: yield* ArchiveTokens,
      maxBodyBytes: options.maxBodyBytes ?? 150 * mebibyte,
      maxPushBytes: options.maxPushBytes ?? 2048 * mebibyte,
      bodyIdle: durationOption("Host: bodyIdle", options.bodyIdle ?? "1 minute"),
      bodyTime: durationOption("Host: bodyTime", options.bodyTime ?? "30 seconds"),
      bodyMemory: yield* MemoryBudget.make(budget),
      replyMemory: yield* MemoryBudget.make(budget),
      replyCache: ReplyCache.make(options.maxRememberedBytes ?? 32 * mebibyte),
      schedule: FairScheduler.make()
    }
    const slots =
      options.maxTransfers === undefined && options.maxWaiting === undefined
        ? GitProcessSlots.shared
        : GitProcessSlots.byCaller(options)
    /**
     * Provides the Git process slots of the caller, unless they are the default. They are shared by all hosts of the
     * process unless the options set limits.
     */
    const withProcessSlots = (principal: Principal, handled: Route.HandlerEffect): Route.HandlerEffect => {
      const own = principal.id === anonymous.id ? slots.anonymous : slots.known
      return own === GitProcessSlots.shared.known
        ? handled
        : Effect.provideService(handled, GitProcessSlots.GitProcessSlots, own)
    }
    const authenticate = Authentication.make(yield* Tokens.Tokens, options.publicUrl)
    const linksOf = Links.from(options.publicUrl)

    const handle = ({ kind, path, prefix, query, request }: RoutedRequest, state: RequestState) => {
      const { headers, method } = request
      if (isApi(kind) && !headers["user-agent"]?.trim()) return noAgent
      const principal = authenticate(request)
      if (principal instanceof HostError) return principal
      state.principal = principal
      if (isApi(kind)) {
        const version = versionOf(headers["x-github-api-version"])
        if (version instanceof HostError) return version
        state.version = version
      }
      const call = (parameters: HostCall["parameters"]): HostCall => ({
        host,
        request,
        path,
        parameters,
        query: query === undefined ? noQuery : new URLSearchParams(query),
        principal,
        media: mediaOf(kind, headers),
        version: state.version,
        links: linksOf(headers["host"], kind === "rest" ? prefix : "/api/v3")
      })
      const run = (match: Route.RouteMatch | undefined): Route.HandlerEffect => {
        if (match === undefined) return notFound
        state.documentation = match.route.docs
        return withProcessSlots(principal, match.route.handle(call(match.parameters)))
      }
      switch (kind) {
        case "graphql":
          return withProcessSlots(principal, GraphQl.handle(call({})))
        case "raw":
        case "codeload":
        case "git":
          return run(routers[kind](method, path))
        case "web":
          return WebRedirect.redirect(method, path, call({}).links, query === undefined ? "" : `?${query}`)
        case "none":
          return notFound
        case "rest": {
          const match = routers.rest(method, path)
          const writes = method !== "GET" && method !== "HEAD"
          state.charge = {
            principal,
            resource: "core",
            writes,
            endpoint: match?.route.path ?? "",
            free: match?.route.resource === "free"
          }
          return limits.enforce(
            state.charge,
            writes ? asWriter(run(match)) : Effect.zipRight(host.schedule, run(match))
          )
        }
      }
    }

    const errorReply = (
      kind: EndpointKind.EndpointKind,
      { documentation }: RequestState,
      error: HostError
    ): Reply.Reply => {
      if (kind === "git" && error.status === 401) return toReply(GitSmartHttp.challenge(error), documentation)
      if (kind !== "raw") return toReply(error, documentation)
      const text = error.status === 404 ? "404: Not Found" : `${error.status}: ${error.message}`
      return Reply.make(error.status, { "content-type": "text/plain; charset=utf-8", ...error.headers }, text)
    }

    const respond = (
      { kind, request }: RoutedRequest,
      { charge, principal, version }: RequestState,
      reply: Reply.Reply
    ): Effect.Effect<Response> => {
      if (kind === "raw") return Effect.succeed(Reply.toResponse(ResponseHeaders.withRawHeaders(reply)))
      if (!isApi(kind)) return Effect.succeed(Reply.toResponse(reply))
      const media = mediaOf(kind, request.headers)
      const response = Effect.map(
        limits.window(principal, kind === "graphql" ? "graphql" : "core"),
        (window) =>
          Reply.toResponse(ResponseHeaders.withApiHeaders(reply, { principal, version, media, window }))
      )
      return reply.status === 304 && charge !== undefined && principal.login !== undefined
        ? Effect.zipRight(limits.refund(charge), response)
        : response
    }

    const serve = (request: Request): Effect.Effect<Response, never, Scope.Scope> => {
      // Node closes the connection after this time. Idle connections between requests have another limit.
      const { socket } = request.source as Partial<IncomingMessage>
      if (Number.isFinite(connectionIdle)) socket?.setTimeout(connectionIdle)
      const routed = routedRequest(request, options.atRoot)
      const { kind } = routed
      if (request.method === "OPTIONS" && (isApi(kind) || kind === "raw")) return Effect.succeed(preflight)
      const state: RequestState = {
        documentation: kind === "graphql" ? "graphql" : "rest",
        principal: anonymous,
        version: versions[0],
        charge: undefined
      }
      return Effect.matchCauseEffect(
        Effect.suspend(() => handle(routed, state)),
        {
          onSuccess: (reply) => respond(routed, state, reply),
          onFailure: (cause) =>
            Effect.flatMap(HostErrorFromCause.fromCause(cause), (error) =>
              Effect.zipRight(
                BodyStream.discard(request),
                respond(routed, state, errorReply(kind, state, error))
              )
            )
        }
      )
    }

    return Host.of({
      app: inject(faults, Effect.flatMap(HttpServerRequest.HttpServerRequest, serve)),
      paths: EndpointKind.paths,
      maxBodyBytes: host.maxBodyBytes,
      maxPushBytes: host.maxPushBytes,
      bodyTime: host.bodyTime
    })
  })

/** The host layer. It requires repositories, tokens, rate limits and faults. */
export const layer = (options: HostOptions) => Layer.effect(Host, make(options))
