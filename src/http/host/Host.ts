import type { IncomingMessage } from "node:http"
import { type HttpApp, HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Context, Duration, Effect, Layer, Option, type Scope } from "effect"
import type { DurationInput } from "../../domain/time/DurationInput.js"
import * as ClientAddress from "../server/ClientAddress.js"
import { durationOption } from "../server/DurationOption.js"
import { Guesses } from "../server/Guesses.js"
import * as Limits from "./access/Limits.js"
import { anonymous, type Principal } from "./access/Principal.js"
import { Tickets } from "./access/Tickets.js"
import * as Tokens from "./access/Tokens.js"
import * as Cors from "./Cors.js"
import * as Envelope from "./Envelope.js"
import { inject } from "./FaultInjection.js"
import * as GraphQl from "./graphql/GraphQl.js"
import * as Refusal from "./Refusal.js"
import * as Router from "./Router.js"
import * as Links from "./reply/Links.js"
import * as Media from "./reply/Media.js"
import { badCredentials, badRequest, notFound, Problem, tooManyGuesses, toReply } from "./reply/Problem.js"
import * as Reply from "./reply/Reply.js"
import { Faults, writing } from "./repository/Faults.js"
import * as Programs from "./repository/Programs.js"
import { Repositories } from "./repository/Repositories.js"
import * as Body from "./request/Body.js"
import { type Call, type HostServices, type Version, versions } from "./request/Call.js"
import * as FairScheduler from "./request/FairScheduler.js"
import * as MemoryBudget from "./request/MemoryBudget.js"
import * as ReplyCache from "./request/ReplyCache.js"
import * as Route from "./request/Route.js"
import * as Rest from "./rest/Rest.js"
import * as Raw from "./transport/Raw.js"
import * as SmartHttp from "./transport/SmartHttp.js"
import * as WebAddress from "./WebAddress.js"

export interface HostOptions extends Programs.ProgramLimits {
  /** REST also at `/`, as on api.github.com, and GraphQL at `/graphql`. */
  readonly atRoot: boolean
  /** The address people use, where it is not the one that the request names. */
  readonly publicUrl?: string | undefined
  /** The largest body of an API request; 150 MiB carry a file of 100 MB in base64. */
  readonly maxBodyBytes?: number
  readonly maxPushBytes?: number
  /** How long the sender of a large body or a push may pause. Default a minute. */
  readonly bodyIdle?: DurationInput
  /**
   * How long the sender of a small body may take, and any sender until the whole must have come at 8 KiB a second. Default
   * 30 seconds.
   */
  readonly bodyTime?: DurationInput
  /** How long nothing may move on the connection of a request that is being answered. Default a quarter of an hour. */
  readonly connectionIdle?: DurationInput
  /** How many bytes of large bodies, asked and answered, are in memory at once; more wait. */
  readonly maxBytesInFlight?: number
  /** How many bytes of answers are remembered for as long as what they show is the same. Default 32 MiB. */
  readonly maxRememberedBytes?: number
}

const mebibyte = 1024 * 1024

/** The GitHub-compatible host as one app, and which paths are its own. */
export class Host extends Context.Tag("chainstore/http/host/Host")<
  Host,
  {
    readonly app: HttpApp.Default<never, Scope.Scope>
    /** Patterns of the paths that the host answers beside its root. */
    readonly paths: ReadonlyArray<string | RegExp>
    readonly maxBodyBytes: number
    readonly maxPushBytes: number
    readonly bodyTime: Duration.Duration
  }
>() {}

const noAgent = new Problem({
  status: 403,
  message:
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required).",
  documentation: "rest/using-the-rest-api/troubleshooting-the-rest-api#user-agent-required"
})

const versionOf = (asked: string | undefined): Version | Problem => {
  if (asked === undefined) return versions[0]
  return (
    versions.find((version) => version === asked) ??
    badRequest(
      `The API version ${JSON.stringify(asked.slice(0, 40))} is not supported. Use one of ${versions.join(", ")}.`
    )
  )
}

/** A request, and where its query begins. */
interface Asked extends Pick<HttpServerRequest.HttpServerRequest, "method" | "url" | "headers"> {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly question: number
}

/** What is found out about a request while it is answered, and goes around its answer. */
interface Found {
  documentation: string
  principal: Principal
  version: Version
  charge: Limits.Charge | undefined
}

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const routers = {
  rest: Route.matcher(Rest.routes),
  git: Route.matcher(SmartHttp.routes),
  raw: Route.matcher([Raw.route]),
  codeload: Route.matcher([Rest.codeload])
}
const preflight = Reply.toResponse(Cors.preflight)
const noQuery = new URLSearchParams()

const make = (options: HostOptions) =>
  Effect.gen(function* () {
    const tokens = yield* Tokens.Tokens
    const limits = yield* Limits.Limits
    const faults = yield* Faults
    const connectionIdle = Duration.toMillis(
      durationOption("Host: connectionIdle", options.connectionIdle ?? "15 minutes")
    )
    // Two budgets: who asks with a large body may be answered with one, and must not wait for itself.
    const budget = (options.maxBytesInFlight ?? 512 * mebibyte) / 2
    const host: HostServices = {
      repositories: yield* Repositories,
      limits,
      tickets: yield* Tickets,
      maxBodyBytes: options.maxBodyBytes ?? 150 * mebibyte,
      maxPushBytes: options.maxPushBytes ?? 2048 * mebibyte,
      bodyIdle: durationOption("Host: bodyIdle", options.bodyIdle ?? "1 minute"),
      bodyTime: durationOption("Host: bodyTime", options.bodyTime ?? "30 seconds"),
      bodyMemory: yield* MemoryBudget.make(budget),
      replyMemory: yield* MemoryBudget.make(budget),
      replyCache: ReplyCache.make(options.maxRememberedBytes ?? 32 * mebibyte),
      turn: FairScheduler.make()
    }
    const programs =
      options.maxTransfers === undefined && options.maxWaiting === undefined
        ? Programs.shared
        : Programs.forCallers(options)
    /** Git programs are counted for the whole process, unless this host has bounds of its own. */
    const limited = (principal: Principal, answer: Route.Answer): Route.Answer =>
      Effect.provideService(
        answer,
        Programs.Programs,
        principal.id === anonymous.id ? programs.anonymous : programs.known
      )
    const guesses = new Guesses({ most: 100, windowMillis: 60_000 })
    const linksOf = Links.from(options.publicUrl)

    const identify = (request: Request, header: string | undefined): Principal | Problem => {
      if (header === undefined || header.trim() === "") return anonymous
      const client = ClientAddress.of(request, options.publicUrl)
      const found = Option.flatMap(Tokens.fromHeader(header), tokens.principal)
      const wait = guesses.wait(
        client,
        Option.match(found, { onNone: () => "", onSome: ({ id }) => id }),
        performance.now()
      )
      if (wait > 0) return tooManyGuesses(wait)
      if (Option.isSome(found)) {
        guesses.succeed(client, found.value.id)
        return found.value
      }
      guesses.fail(client, performance.now())
      return badCredentials
    }

    const route = (
      { headers, method, question, request, url }: Asked,
      { area, prefix }: Router.Target,
      found: Found
    ) => {
      const api = area === "rest" || area === "graphql"
      if (api && !headers["user-agent"]?.trim()) return noAgent
      const principal = identify(request, headers["authorization"])
      if (principal instanceof Problem) return principal
      found.principal = principal
      if (api) {
        const version = versionOf(headers["x-github-api-version"])
        if (version instanceof Problem) return version
        found.version = version
      }
      const path = url.slice(prefix.length, question < 0 ? undefined : question) || "/"
      const call = (parameters: Call["parameters"]): Call => ({
        host,
        request,
        path,
        parameters,
        query: question < 0 ? noQuery : new URLSearchParams(url.slice(question + 1)),
        principal,
        media: area === "rest" ? Media.fromAccept(headers["accept"]) : "json",
        version: found.version,
        links: linksOf(headers["host"], area === "rest" ? prefix : "/api/v3")
      })
      const run = (match: Route.Match | undefined): Route.Answer => {
        if (match === undefined) return notFound
        found.documentation = match.route.docs
        return limited(principal, match.route.handle(call(match.parameters)))
      }
      switch (area) {
        case "graphql":
          return limited(principal, GraphQl.handle(call({})))
        case "raw":
        case "codeload":
        case "git":
          return run(routers[area](method, path))
        case "web": {
          const query = question < 0 ? "" : url.slice(question)
          return WebAddress.redirect(method, path, call({}).links, query)
        }
        case "none":
          return notFound
        case "rest": {
          const match = routers.rest(method, path)
          const writes = method !== "GET" && method !== "HEAD"
          const charge: Limits.Charge = {
            principal,
            resource: "core",
            writes,
            endpoint: match?.route.path ?? "",
            free: match?.route.resource === "free"
          }
          found.charge = charge
          return limits.around(charge, writes ? writing(run(match)) : Effect.zipRight(host.turn, run(match)))
        }
      }
    }

    const refused = (area: Router.Area, found: Found, problem: Problem): Reply.Reply => {
      if (area === "git" && problem.status === 401)
        return toReply(SmartHttp.challenge(problem), found.documentation)
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
      // Node ends it then; between requests it has a time of its own.
      const { socket } = request.source as Partial<IncomingMessage>
      if (Number.isFinite(connectionIdle)) socket?.setTimeout(connectionIdle)
      const question = url.indexOf("?")
      const target = Router.of(question < 0 ? url : url.slice(0, question), options.atRoot)
      const { area } = target
      const api = area === "rest" || area === "graphql"
      if (method === "OPTIONS" && (api || area === "raw")) return Effect.succeed(preflight)
      const found: Found = {
        documentation: area === "graphql" ? "graphql" : "rest",
        principal: anonymous,
        version: versions[0],
        charge: undefined
      }
      const finish = (reply: Reply.Reply): Effect.Effect<Response> => {
        if (!api) return Effect.succeed(Reply.toResponse(area === "raw" ? Envelope.aroundRaw(reply) : reply))
        const { charge, principal, version } = found
        const media = area === "rest" ? Media.fromAccept(headers["accept"]) : "json"
        const enveloped = Effect.map(
          limits.window(principal, area === "graphql" ? "graphql" : "core"),
          (window) => Reply.toResponse(Envelope.around(reply, { principal, version, media, window }))
        )
        return reply.status === 304 && charge !== undefined && principal.login !== undefined
          ? Effect.zipRight(limits.refund(charge), enveloped)
          : enveloped
      }
      const handled = Effect.suspend(() => route({ request, method, url, headers, question }, target, found))
      return Effect.matchCauseEffect(handled, {
        onSuccess: finish,
        onFailure: (cause) =>
          Effect.flatMap(Refusal.fromCause(cause), (problem) =>
            Effect.zipRight(Body.drop(request), finish(refused(area, found, problem)))
          )
      })
    }

    return Host.of({
      app: inject(faults, Effect.flatMap(HttpServerRequest.HttpServerRequest, answer)),
      paths: Router.paths,
      maxBodyBytes: host.maxBodyBytes,
      maxPushBytes: host.maxPushBytes,
      bodyTime: host.bodyTime
    })
  })

/** The host over its repositories, tokens, limits and faults. */
export const layer = (options: HostOptions) => Layer.effect(Host, make(options))
