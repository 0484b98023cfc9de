import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { neverConnected } from "../../../../domain/errors/NeverConnected.js"
import type { AuthError } from "../../../../domain/errors/StoreError.js"
import * as Monotonic from "../../../../domain/time/MonotonicClock.js"
import type { Method } from "../api/Api.js"
import { ApiFailure, isAmbiguous, isLimit, isTransient } from "./ApiFailure.js"
import { type Credential, type Credentials, makeCredentials } from "./Credentials.js"
import { inBrowser } from "./InBrowser.js"
import type { HeaderRecord } from "./LimitHeaders.js"
import { currentOperation, timeLeft } from "./OperationContext.js"
import type { Settings } from "./Options.js"
import { makeRateLimiter, type RateLimiter } from "./RateLimiter.js"
import { classify } from "./ReplyClassification.js"
import { advisedDelay, freshToken, politely } from "./Retry.js"

/** A request to send. */
export interface ApiRequest {
  readonly id: string
  readonly method: Method
  readonly url: string
  readonly accept: string
  readonly body: string | undefined
  readonly etag: string | undefined
  readonly resource: string
  readonly creates: boolean
  /** Whether it goes to the API's origin. Only then it carries the token. */
  readonly authenticate: boolean
}

/** A successful reply, or a 304. */
export interface ApiResponse {
  readonly status: number
  readonly headers: HeaderRecord
  readonly bytes: Uint8Array
  readonly generation: number
}

type CallFailure = ApiFailure | AuthError

/** The credential of requests to other origins. */
const anonymous = Effect.succeed<Credential>({ header: Option.none(), generation: 0, since: 0 })

/** Sends requests with authorization, rate limits, timeouts, and retries of repeatable requests. */
export interface Transport {
  readonly limits: RateLimiter
  readonly credentials: Credentials
  readonly perform: <A>(
    exchange: ApiRequest,
    repeatable: boolean,
    read: (answer: ApiResponse) => Effect.Effect<A, ApiFailure>
  ) => Effect.Effect<A, ApiFailure | AuthError>
}

// A browser's cache would return replies up to a minute old. Node's fetch would follow redirects to other origins.
const init = { redirect: inBrowser ? "follow" : "manual", cache: "no-store" } as RequestInit

const failure = (exchange: ApiRequest, kind: ApiFailure["kind"], message: string, more: object = {}) =>
  new ApiFailure({ kind, endpoint: exchange.id, message, ...more })

const makeRequest = (exchange: ApiRequest, credential: Credential, settings: Settings) => {
  const headers: Record<string, string> = { accept: exchange.accept }
  if (exchange.authenticate && Option.isSome(credential.header)) {
    headers["authorization"] = Redacted.value(credential.header.value)
  }
  if (exchange.etag !== undefined) headers["if-none-match"] = exchange.etag
  if (!inBrowser) {
    headers["user-agent"] = settings.userAgent
    if (exchange.authenticate) headers["x-github-api-version"] = "2022-11-28"
  }
  const request = HttpClientRequest.make(exchange.method)(exchange.url, { headers })
  return exchange.body === undefined
    ? request
    : HttpClientRequest.bodyText(request, exchange.body, "application/json")
}

export const makeTransport = (settings: Settings): Effect.Effect<Transport, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const given = Option.isSome(settings.session) ? settings.session.value : yield* HttpClient.HttpClient
    // CORS refuses trace headers.
    const http = HttpClient.withTracerPropagation(given, false)
    const credentials = yield* makeCredentials(settings)
    const limits = yield* makeRateLimiter(settings)

    const follow = (
      exchange: ApiRequest,
      request: HttpClientRequest.HttpClientRequest,
      hops: number
    ): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError | ApiFailure> =>
      Effect.flatMap(http.execute(request), (response) => {
        if (![301, 302, 307, 308].includes(response.status)) return Effect.succeed(response)
        const location = response.headers["location"]
        const from = new URL(request.url)
        const to =
          location !== undefined && URL.canParse(location, request.url) ? new URL(location, from) : undefined
        const changesMethod = response.status < 307 && request.method !== "GET"
        return to === undefined || to.origin !== from.origin || hops >= 5 || changesMethod
          ? Effect.fail(
              failure(exchange, "Redirect", `a redirect to ${to?.origin ?? "nowhere"} is not followed`, {
                status: response.status,
                hint: "check the repository's name and apiUrl"
              })
            )
          : follow(exchange, HttpClientRequest.setUrl(request, to), hops + 1)
      })

    const receive = (
      exchange: ApiRequest,
      response: HttpClientResponse.HttpClientResponse,
      generation: number
    ): Effect.Effect<ApiResponse, HttpClientError.HttpClientError> =>
      Effect.map(
        response.status === 304 || response.status === 204
          ? Effect.succeed(new ArrayBuffer(0))
          : response.arrayBuffer,
        (buffer) => ({
          status: response.status,
          headers: response.headers,
          bytes: new Uint8Array(buffer),
          generation: exchange.authenticate ? generation : 0
        })
      )

    const sendOnce = (exchange: ApiRequest, credential: Credential): Effect.Effect<ApiResponse, ApiFailure> =>
      Effect.gen(function* () {
        const wait = Math.min(Duration.toMillis(settings.timeout), yield* timeLeft)
        if (wait <= 0) {
          return yield* failure(exchange, "TimedOut", "the operation's deadline is over", { notSent: true })
        }
        const call = yield* FiberRef.get(currentOperation)
        if (call !== undefined) call.requests++
        const answer = yield* follow(exchange, makeRequest(exchange, credential, settings), 0).pipe(
          Effect.flatMap((response) => receive(exchange, response, credential.generation)),
          Effect.mapError((error) =>
            error._tag === "ApiFailure"
              ? error
              : failure(exchange, "Unreachable", `no answer from ${new URL(exchange.url).origin}`, {
                  cause: error.cause,
                  notSent: error._tag === "RequestError" && neverConnected(error.cause)
                })
          ),
          Effect.timeoutFail({
            duration: wait,
            onTimeout: () => failure(exchange, "TimedOut", `no answer within ${Math.ceil(wait / 1000)} s`)
          }),
          Effect.provideService(FetchHttpClient.RequestInit, init)
        )
        const remaining = yield* limits.observe(answer.headers)
        if (call !== undefined) {
          call.bytes += answer.bytes.length
          if (answer.status === 304) call.notModified++
          if (remaining !== undefined) call.remaining = remaining
        }
        if (answer.status < 300 || answer.status === 304) return answer
        const now = yield* Clock.currentTimeMillis
        const text = new TextDecoder().decode(answer.bytes)
        return yield* classify(exchange.id, answer.status, answer.headers, text, now)
      }).pipe(
        limits.through({ endpoint: exchange.id, resource: exchange.resource, creates: exchange.creates })
      )

    const withCredential = (exchange: ApiRequest) =>
      Effect.flatMap(exchange.authenticate ? credentials.current : anonymous, (credential) =>
        Effect.mapError(sendOnce(exchange, credential), (error) => ({ error, credential }))
      )

    const isFresh = (
      problem: CallFailure | { readonly error: ApiFailure; readonly credential: Credential }
    ) =>
      Effect.map(
        Monotonic.millis,
        (now) =>
          "credential" in problem &&
          problem.credential.since > 0 &&
          now - problem.credential.since < 10_000 &&
          (problem.error.kind === "Credentials" || problem.error.kind === "Forbidden")
      )

    const authorised = (exchange: ApiRequest): Effect.Effect<ApiResponse, CallFailure> =>
      withCredential(exchange).pipe(
        Effect.catchAll((problem) =>
          "credential" in problem && problem.error.kind === "Credentials" && exchange.authenticate
            ? Effect.flatMap(isFresh(problem), (fresh) =>
                fresh
                  ? Effect.fail(problem)
                  : Effect.flatMap(credentials.refused(problem.credential), (another) =>
                      another ? withCredential(exchange) : Effect.fail(problem)
                    )
              )
            : Effect.fail(problem)
        ),
        Effect.retry({ schedule: freshToken, while: isFresh }),
        Effect.mapError((problem) => ("credential" in problem ? problem.error : problem))
      )

    /** A limit on one request pauses the other requests, too. */
    const pauseOthers = (exchange: ApiRequest, refusal: ApiFailure) =>
      isLimit(refusal)
        ? limits.pause(
            refusal.kind === "PrimaryLimit" ? exchange.resource : undefined,
            advisedDelay(refusal, 0, settings.backoffFactor)
          )
        : Effect.void

    return {
      limits,
      credentials,
      perform: <A>(
        exchange: ApiRequest,
        repeatable: boolean,
        read: (answer: ApiResponse) => Effect.Effect<A, ApiFailure>
      ) =>
        authorised(exchange).pipe(
          Effect.flatMap(read),
          Effect.tapErrorTag("ApiFailure", (error) => pauseOthers(exchange, error)),
          Effect.retry(
            politely(
              settings,
              (error) => isLimit(error) || (isTransient(error) && (repeatable || !isAmbiguous(error)))
            )
          )
        )
    }
  })
