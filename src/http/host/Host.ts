import type { IncomingMessage } from "node:http"
import { type HttpApp, HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Context, Duration, Effect, Layer, Option, type Scope } from "effect"
import type { DurationInput } from "../../domain/time/DurationInput.js"
import * as ClientAddress from "../server/ClientAddress.js"
import { durationOption } from "../server/DurationOption.js"
import { LoginThrottle } from "../server/LoginThrottle.js"
import { ArchiveTokens } from "./access/ArchiveTokens.js"
import { anonymous, type Principal } from "./access/Principal.js"
import * as RateLimits from "./access/RateLimits.js"
import * as Tokens from "./access/Tokens.js"
import * as CorsHeaders from "./CorsHeaders.js"
import * as EndpointKind from "./EndpointKind.js"
import { inject } from "./FaultInjection.js"
import * as GraphQl from "./graphql/GraphQl.js"
import * as HostErrorFromCause from "./HostErrorFromCause.js"
import * as ResponseHeaders from "./ResponseHeaders.js"
import {
  badCredentials,
  badRequest,
  HostError,
  notFound,
  tooManyFailedLogins,
  toReply
} from "./reply/HostError.js"
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

const versionOf = (asked: string | undefined): Version | HostError => {
  if (asked === undefined) return versions[0]
  return (
    versions.find((version) => version === asked) ??
    badRequest(
      `The API version ${JSON.stringify(asked.slice(0, 40))} is not supported. Use one of ${versions.join(", ")}.`
    )
  )
}

/** A request with the position of its query. */
interface ParsedRequest extends Pick<HttpServerRequest.HttpServerRequest, "method" | "url" | "headers"> {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly queryStart: number
}

/** What processing learns about a request, for the headers of its reply. */
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

const make = (options: HostOptions) =>
  Effect.gen(function* () {
    const tokens = yield* Tokens.Tokens
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
      tickets: yield* ArchiveTokens,
      maxBodyBytes: options.maxBodyBytes ?? 150 * mebibyte,
      maxPushBytes: options.maxPushBytes ?? 2048 * mebibyte,
      bodyIdle: durationOption("Host: bodyIdle", options.bodyIdle ?? "1 minute"),
      bodyTime: durationOption("Host: bodyTime", options.bodyTime ?? "30 seconds"),
      bodyMemory: yield* MemoryBudget.make(budget),
      replyMemory: yield* MemoryBudget.make(budget),
      replyCache: ReplyCache.make(options.maxRememberedBytes ?? 32 * mebibyte),
      schedule: FairScheduler.make()
    }
    const programs =
      options.maxTransfers === undefined && options.maxWaiting === undefined
        ? GitProcessSlots.shared
        : GitProcessSlots.byCaller(options)
    /**
     * Provides the Git process slots of the caller. They are shared by all hosts of the process unless the options
     * set limits.
     */
    const withProcessSlots = (principal: Principal, answer: Route.HandlerEffect): Route.HandlerEffect =>
      Effect.provideService(
        answer,
        GitProcessSlots.GitProcessSlots,
        principal.id === anonymous.id ? programs.anonymous : programs.known
      )
    const guesses = new LoginThrottle({ maxFailures: 100, windowMillis: 60_000 })
    const linksOf = Links.from(options.publicUrl)

    const identify = (request: Request, header: string | undefined): Principal | HostError => {
      if (header === undefined || header.trim() === "") return anonymous
      const client = ClientAddress.fromRequest(request, options.publicUrl)
      const found = Option.flatMap(Tokens.fromHeader(header), tokens.principal)
      const wait = guesses.retryAfter(
        client,
        Option.match(found, { onNone: () => "", onSome: ({ id }) => id }),
        performance.now()
      )
      if (wait > 0) return tooManyFailedLogins(wait)
      if (Option.isSome(found)) {
        guesses.recordSuccess(client, found.value.id)
        return found.value
      }
      guesses.recordFailure(client, performance.now())
      return badCredentials
    }

    const route = (
      { headers, method, queryStart: question, request, url }: ParsedRequest,
      { kind: area, prefix }: EndpointKind.EndpointMatch,
      found: RequestState
    ) => {
      const api = area === "rest" || area === "graphql"
      if (api && !headers["user-agent"]?.trim()) return noAgent
      const principal = identify(request, headers["authorization"])
      if (principal instanceof HostError) return principal
      found.principal = principal
      if (api) {
        const version = versionOf(headers["x-github-api-version"])
        if (version instanceof HostError) return version
        found.version = version
      }
      const path = url.slice(prefix.length, question < 0 ? undefined : question) || "/"
      const call = (parameters: HostCall["parameters"]): HostCall => ({
        host,
        request,
        path,
        parameters,
        query: question < 0 ? noQuery : new URLSearchParams(url.slice(question + 1)),
        principal,
        media: area === "rest" ? MediaType.fromAccept(headers["accept"]) : "json",
        version: found.version,
        links: linksOf(headers["host"], area === "rest" ? prefix : "/api/v3")
      })
      const run = (match: Route.RouteMatch | undefined): Route.HandlerEffect => {
        if (match === undefined) return notFound
        found.documentation = match.route.docs
        return withProcessSlots(principal, match.route.handle(call(match.parameters)))
      }
      switch (area) {
        case "graphql":
          return withProcessSlots(principal, GraphQl.handle(call({})))
        case "raw":
        case "codeload":
        case "git":
          return run(routers[area](method, path))
        case "web": {
          const query = question < 0 ? "" : url.slice(question)
          return WebRedirect.redirect(method, path, call({}).links, query)
        }
        case "none":
          return notFound
        case "rest": {
          const match = routers.rest(method, path)
          const writes = method !== "GET" && method !== "HEAD"
          const charge: RateLimits.RequestCharge = {
            principal,
            resource: "core",
            writes,
            endpoint: match?.route.path ?? "",
            free: match?.route.resource === "free"
          }
          found.charge = charge
          return limits.enforce(
            charge,
            writes ? asWriter(run(match)) : Effect.zipRight(host.schedule, run(match))
          )
        }
      }
    }

    const errorReply = (
      area: EndpointKind.EndpointKind,
      found: RequestState,
      problem: HostError
    ): Reply.Reply => {
      if (area === "git" && problem.status === 401)
        return toReply(GitSmartHttp.challenge(problem), found.documentation)
      if (area !== "raw") return toReply(problem, found.documentation)
      const text = problem.status === 404 ? "404: Not Found" : `${problem.status}: ${problem.message}`
      return Reply.make(
        problem.status,
        { "content-type": "text/plain; charset=utf-8", ...problem.headers },
        text
      )
    }

    const answer = (request: Request): Effect.Effect<Response, never, Scope.Scope> => {
      const { headers, method, url } = request
      // Node closes the connection after this time. Idle connections between requests have another limit.
      const { socket } = request.source as Partial<IncomingMessage>
      if (Number.isFinite(connectionIdle)) socket?.setTimeout(connectionIdle)
      const question = url.indexOf("?")
      const target = EndpointKind.fromPath(question < 0 ? url : url.slice(0, question), options.atRoot)
      const { kind: area } = target
      const api = area === "rest" || area === "graphql"
      if (method === "OPTIONS" && (api || area === "raw")) return Effect.succeed(preflight)
      const found: RequestState = {
        documentation: area === "graphql" ? "graphql" : "rest",
        principal: anonymous,
        version: versions[0],
        charge: undefined
      }
      const finish = (reply: Reply.Reply): Effect.Effect<Response> => {
        if (!api)
          return Effect.succeed(
            Reply.toResponse(area === "raw" ? ResponseHeaders.withRawHeaders(reply) : reply)
          )
        const { charge, principal, version } = found
        const media = area === "rest" ? MediaType.fromAccept(headers["accept"]) : "json"
        const enveloped = Effect.map(
          limits.window(principal, area === "graphql" ? "graphql" : "core"),
          (window) =>
            Reply.toResponse(ResponseHeaders.withApiHeaders(reply, { principal, version, media, window }))
        )
        return reply.status === 304 && charge !== undefined && principal.login !== undefined
          ? Effect.zipRight(limits.refund(charge), enveloped)
          : enveloped
      }
      const handled = Effect.suspend(() =>
        route({ request, method, url, headers, queryStart: question }, target, found)
      )
      return Effect.matchCauseEffect(handled, {
        onSuccess: finish,
        onFailure: (cause) =>
          Effect.flatMap(HostErrorFromCause.fromCause(cause), (problem) =>
            Effect.zipRight(BodyStream.discard(request), finish(errorReply(area, found, problem)))
          )
      })
    }

    return Host.of({
      app: inject(faults, Effect.flatMap(HttpServerRequest.HttpServerRequest, answer)),
      paths: EndpointKind.paths,
      maxBodyBytes: host.maxBodyBytes,
      maxPushBytes: host.maxPushBytes,
      bodyTime: host.bodyTime
    })
  })

/** The host layer. It requires repositories, tokens, rate limits and faults. */
export const layer = (options: HostOptions) => Layer.effect(Host, make(options))
