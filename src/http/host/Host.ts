import { randomBytes } from "node:crypto"
import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Cause, Context, Effect, Layer, Option, type Scope } from "effect"
import { RefMoved } from "../../domain/Ref.js"
import { RemoteError, ValidationError } from "../../domain/StoreError.js"
import { type Call, type Version, versions } from "./Call.js"
import * as Cors from "./Cors.js"
import { type Fault, Faults } from "./Faults.js"
import * as GraphQl from "./graphql/GraphQl.js"
import * as Limits from "./Limits.js"
import * as Links from "./Links.js"
import * as Media from "./Media.js"
import { anonymous, type Principal } from "./Principal.js"
import { badCredentials, badRequest, notFound, Problem, toResponse } from "./Problem.js"
import * as Raw from "./Raw.js"
import * as Route from "./Route.js"
import * as Rest from "./rest/Rest.js"
import * as SmartHttp from "./SmartHttp.js"
import * as Tokens from "./Tokens.js"

export interface HostOptions {
  /** REST also at `/`, as on api.github.com, and GraphQL at `/graphql`. */
  readonly atRoot: boolean
  /** The address people use, where it is not the one that the request names. */
  readonly publicUrl?: string | undefined
  /** The largest body of an API request; 150 MiB carry a file of 100 MB in base64. */
  readonly maxBodyBytes?: number
  readonly maxPushBytes?: number
  /** How many bytes of large request bodies are in memory at once; more wait. */
  readonly maxBytesInFlight?: number
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
  }
>() {}

const paths: ReadonlyArray<string | RegExp> = [
  "/api/v3",
  "/api/graphql",
  "/api/codeload",
  "/raw",
  /^\/[^/]+\/[^/]+\.git\/(?:info\/refs|git-upload-pack|git-receive-pack)$/
]

type Area = "rest" | "graphql" | "codeload" | "raw" | "git" | "none"

const areaOf = (path: string, atRoot: boolean): { readonly area: Area; readonly prefix: string } => {
  const below = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`)
  if (below("/api/v3")) return { area: "rest", prefix: "/api/v3" }
  if (path === "/api/graphql" || (atRoot && path === "/graphql")) return { area: "graphql", prefix: "" }
  if (below("/api/codeload")) return { area: "codeload", prefix: "/api/codeload" }
  if (below("/raw")) return { area: "raw", prefix: "/raw" }
  if (paths.some((known) => typeof known !== "string" && known.test(path))) return { area: "git", prefix: "" }
  return { area: atRoot ? "rest" : "none", prefix: "" }
}

const seed = randomBytes(4).toString("hex").toUpperCase()
let requests = 0
const requestId = () => `${seed}:${(++requests).toString(16).toUpperCase().padStart(8, "0")}`

const common: Readonly<Record<string, string>> = {
  ...Cors.headers,
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "origin-when-cross-origin, strict-origin-when-cross-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "deny",
  vary: "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, X-Requested-With"
}

const noAgent = new Problem({
  status: 403,
  message:
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required).",
  documentation: "rest/using-the-rest-api/troubleshooting-the-rest-api#user-agent-required"
})

/** Whatever went wrong, as GitHub would tell it. */
const toProblem = (failure: Route.Failure): Effect.Effect<Problem> => {
  if (failure instanceof Problem) return Effect.succeed(failure)
  if (failure instanceof RefMoved)
    return Effect.succeed(new Problem({ status: 409, message: failure.message }))
  if (failure instanceof ValidationError)
    return Effect.succeed(new Problem({ status: 422, message: failure.message }))
  const busy = failure instanceof RemoteError && (failure.reason === "Locked" || failure.reason === "Timeout")
  return Effect.as(
    Effect.logError("A request failed", failure),
    new Problem({ status: busy ? 503 : 502, message: "Server Error" })
  )
}

const hang = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.suspend(() => {
    const { source } = request
    const socket =
      typeof source === "object" && source !== null && "socket" in source
        ? (source.socket as { resetAndDestroy?: () => void; destroy?: () => void })
        : undefined
    if (socket?.resetAndDestroy !== undefined) socket.resetAndDestroy()
    else socket?.destroy?.()
    return socket === undefined ? Effect.interrupt : Effect.never
  })

/** An answer as a fault leaves it. */
const spoiled = (
  faults: Context.Tag.Service<typeof Faults>,
  fault: Fault,
  request: HttpServerRequest.HttpServerRequest,
  answer: Route.Answer
): Route.Answer => {
  switch (fault._tag) {
    case "Latency":
      return Effect.delay(answer, fault.millis)
    case "Error": {
      const error = new Problem({ status: fault.status, message: "Server Error" })
      return fault.when === "before" ? Effect.fail(error) : Effect.zipRight(answer, Effect.fail(error))
    }
    case "Reset":
      return fault.when === "before" ? hang(request) : Effect.zipRight(answer, hang(request))
    case "Race":
      return faults.racing(answer)
  }
}

const make = (options: HostOptions) =>
  Effect.gen(function* () {
    const tokens = yield* Tokens.Tokens
    const limits = yield* Limits.Limits
    const faults = yield* Faults
    const maxBodyBytes = options.maxBodyBytes ?? 150 * mebibyte
    const maxPushBytes = options.maxPushBytes ?? 2048 * mebibyte
    const rest = Route.matcher(yield* Rest.routes)
    const git = Route.matcher(yield* SmartHttp.routes({ maxPushBytes }))
    const raw = Route.matcher([yield* Raw.route])
    const codeload = Route.matcher([yield* Rest.codeload])
    const graphql = yield* GraphQl.handler

    const permits = Math.ceil((options.maxBytesInFlight ?? 512 * mebibyte) / mebibyte)
    const memory = yield* Effect.makeSemaphore(permits)
    /** Large bodies wait for room; small ones do not matter. */
    const roomy = (request: HttpServerRequest.HttpServerRequest, answer: Route.Answer): Route.Answer => {
      const declared = request.headers["content-length"]
      const chunked = request.headers["transfer-encoding"] !== undefined
      const bytes = chunked ? maxBodyBytes : Math.min(Number(declared ?? 0) || 0, maxBodyBytes)
      return bytes < mebibyte
        ? answer
        : memory.withPermits(Math.min(Math.ceil(bytes / mebibyte), permits))(answer)
    }

    const publicOrigin = options.publicUrl === undefined ? undefined : new URL(options.publicUrl).origin
    const originOf = (request: HttpServerRequest.HttpServerRequest): string => {
      const host = request.headers["host"] ?? ""
      const named = /^[A-Za-z0-9.-]+(?::\d{1,5})?$|^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/.test(host)
        ? host
        : "localhost"
      return publicOrigin !== undefined && new URL(publicOrigin).host === named
        ? publicOrigin
        : `http://${named}`
    }

    const identify = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Principal, Problem> =>
      Effect.suspend(() => {
        const header = request.headers["authorization"]
        if (header === undefined || header.trim() === "") return Effect.succeed(anonymous)
        const found = Option.flatMap(Tokens.fromHeader(header), tokens.principal)
        return Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(badCredentials)
      })

    const versionOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Version, Problem> => {
      const asked = request.headers["x-github-api-version"] ?? versions[0]
      const known = versions.find((version) => version === asked)
      return known === undefined
        ? Effect.fail(
            badRequest(
              `The API version ${JSON.stringify(asked.slice(0, 40))} is not supported. Use one of ${versions.join(", ")}.`
            )
          )
        : Effect.succeed(known)
    }

    const faulty = (request: HttpServerRequest.HttpServerRequest, answer: Route.Answer): Route.Answer =>
      Effect.flatMap(
        faults.meet(request.method, request.url),
        Option.match({ onNone: () => answer, onSome: (fault) => spoiled(faults, fault, request, answer) })
      )

    const answer = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.gen(function* () {
        const question = request.url.indexOf("?")
        const whole = question < 0 ? request.url : request.url.slice(0, question)
        const { area, prefix } = areaOf(whole, options.atRoot)
        const api = area === "rest" || area === "graphql"
        if (request.method === "OPTIONS" && (api || area === "raw")) return Cors.preflight

        const path = whole.slice(prefix.length) || "/"
        const links = Links.make(originOf(request), area === "rest" ? prefix : "/api/v3")
        const media = area === "rest" ? Media.fromAccept(request.headers["accept"]) : "json"
        const charged: { value: Limits.Charge | undefined } = { value: undefined }
        let documentation = area === "graphql" ? "graphql" : "rest"
        let who: Principal = anonymous
        let version: Version = versions[0]

        const handled: Route.Answer = Effect.gen(function* () {
          if (api && !request.headers["user-agent"]?.trim()) return yield* noAgent
          who = yield* identify(request)
          version = api ? yield* versionOf(request) : version
          const call: Call = {
            request,
            path,
            parameters: {},
            query: new URLSearchParams(question < 0 ? "" : request.url.slice(question + 1)),
            principal: who,
            media,
            version,
            links,
            maxBodyBytes
          }
          const run = (match: Route.Match | undefined): Route.Answer => {
            if (match === undefined) return Effect.fail(notFound)
            documentation = match.route.docs
            return Effect.suspend(() => match.route.handle({ ...call, parameters: match.parameters }))
          }
          switch (area) {
            case "graphql":
              return yield* roomy(
                request,
                graphql(call, (charge, effect) => limits.around(charge, effect))
              )
            case "raw":
              return yield* run(raw(request.method, path))
            case "codeload":
              return yield* run(codeload(request.method, path))
            case "git":
              return yield* run(git(request.method, path))
            case "none":
              return yield* notFound
            case "rest": {
              const match = rest(request.method, path)
              const writes = request.method !== "GET" && request.method !== "HEAD"
              const charge: Limits.Charge = {
                principal: who,
                resource: "core",
                writes,
                creates: writes,
                endpoint: match?.route.template ?? "",
                free: match?.route.template === "/rate_limit"
              }
              charged.value = charge
              return yield* limits.around(charge, roomy(request, run(match)))
            }
          }
        })

        const response = yield* faulty(request, handled).pipe(
          Effect.catchAll((failure) =>
            Effect.map(toProblem(failure), (problem) => {
              if (area === "raw") {
                const text =
                  problem.status === 404 ? "404: Not Found" : `${problem.status}: ${problem.message}`
                return HttpServerResponse.text(text, {
                  status: problem.status,
                  headers: problem.headers ?? {}
                })
              }
              return toResponse(problem, documentation)
            })
          ),
          Effect.catchAllCause((cause) =>
            Cause.isInterruptedOnly(cause)
              ? Effect.failCause(cause as Cause.Cause<never>)
              : Effect.as(
                  Effect.logError("A request met a defect", cause),
                  toResponse(new Problem({ status: 500, message: "Server Error" }), documentation)
                )
          )
        )
        if (!api) return area === "raw" ? HttpServerResponse.setHeaders(response, Cors.headers) : response
        if (response.status === 304 && charged.value !== undefined && who.login !== undefined) {
          yield* limits.refund(charged.value)
        }
        const window = yield* limits.window(who, area === "graphql" ? "graphql" : "core")
        return HttpServerResponse.setHeaders(response, {
          "cache-control": `${who.login === undefined ? "public" : "private"}, max-age=60, s-maxage=60`,
          ...common,
          ...response.headers,
          ...Limits.headers(window),
          "x-github-api-version-selected": version,
          "x-github-media-type": Media.header(media),
          "x-github-request-id": requestId()
        })
      })

    return Host.of({
      app: Effect.flatMap(HttpServerRequest.HttpServerRequest, answer),
      paths,
      maxBodyBytes,
      maxPushBytes
    })
  })

/** The host over its repositories, tokens, limits and faults. */
export const layer = (options: HostOptions) => Layer.effect(Host, make(options))
