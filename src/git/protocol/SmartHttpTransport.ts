import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { neverConnected } from "../../domain/errors/NeverConnected.js"
import { AuthError, NotFoundError, RateLimitError, RemoteError } from "../../domain/errors/StoreError.js"
import { collectResponse, LostReply, type Transport } from "./Transport.js"

export interface SmartHttpOptions {
  /** The address of the repository, without a trailing slash. */
  readonly url: string
  /** The value of the `Authorization` header. */
  readonly authorization: Effect.Effect<Option.Option<Redacted.Redacted<string>>, AuthError>
  readonly userAgent: string
  /** The longest wait for the beginning of a response, and for each next piece of it. */
  readonly timeout: Duration.Duration
  readonly client: HttpClient.HttpClient
}

/** The number of characters of an error's body that are read. */
const maxErrorBody = 4096

const secondsOf = (text: string | undefined): number | undefined => {
  const seconds = Number(text)
  return text !== undefined && /^\d{1,9}$/.test(text.trim()) ? seconds : undefined
}

const decodeMessage = Schema.decodeOption(Schema.parseJson(Schema.Struct({ message: Schema.String })))

/** The `message` of an error in JSON, or the first line of its body. */
const summaryOf = (body: string): string => {
  const text = Option.match(decodeMessage(body), { onNone: () => body, onSome: ({ message }) => message })
  return text.trim().split("\n")[0]?.slice(0, 200) ?? ""
}

const init = { redirect: "manual", cache: "no-store" } as RequestInit

/** Smart HTTP for one repository. See gitprotocol-http(5). */
export const make = ({ authorization, client, timeout, url, userAgent }: SmartHttpOptions): Transport => {
  const operation = "GitHost.request"
  const http = HttpClient.withTracerPropagation(client, false)
  const remote = (
    reason: RemoteError["reason"],
    message: string,
    more: { hint?: string; cause?: unknown } = {}
  ) => new RemoteError({ operation, reason, path: url, message, ...more })
  const checkNetwork = "check the address and the network"
  const lost = (reason: "Timeout" | "Unreachable", message: string, cause?: unknown) =>
    new LostReply(remote(reason, message, { cause, hint: checkNetwork }))

  const refusal = (response: HttpClientResponse.HttpClientResponse, text: string) => {
    const { status } = response
    const summary = summaryOf(text)
    const message = `${url} answered ${status}${summary === "" ? "" : `: ${summary}`}`
    const seconds = secondsOf(response.headers["retry-after"])
    if (status === 429 || (status === 403 && seconds !== undefined)) {
      return new RateLimitError({
        operation,
        path: url,
        status,
        message,
        ...(seconds === undefined ? {} : { hint: `try again in ${seconds} s` })
      })
    }
    if (status === 401 || status === 403) {
      return new AuthError({
        operation,
        path: url,
        status,
        message,
        hint: "check the user name and the token, and that they may read and write this repository"
      })
    }
    if (status === 404 || status === 410) {
      return new NotFoundError({
        operation,
        path: url,
        status,
        message: `there is no Git repository at ${url}, or the credentials may not see it`,
        hint: "check the address; many servers want it to end in .git"
      })
    }
    if (status >= 300 && status < 400) {
      return remote(
        "Denied",
        `${url} answered with a redirect to ${response.headers["location"] ?? "nowhere"}`,
        {
          hint: "give that address instead: credentials are not sent on to another one"
        }
      )
    }
    if (status === 413) return remote("Denied", message, { hint: "write less in one commit" })
    return remote("Server", message)
  }

  /** The body of an error response, up to the shown length. */
  const errorBody = (response: HttpClientResponse.HttpClientResponse) =>
    Effect.suspend(() => {
      let text = ""
      const decoder = new TextDecoder()
      return response.stream.pipe(
        Stream.takeUntil((bytes) => {
          text += decoder.decode(bytes, { stream: true })
          return text.length >= maxErrorBody
        }),
        Stream.runDrain,
        Effect.timeout(timeout),
        Effect.ignore,
        Effect.map(() => text.slice(0, maxErrorBody))
      )
    })

  const execute = (request: HttpClientRequest.HttpClientRequest, type: string) =>
    Effect.gen(function* () {
      // If another response comes instead of the report, the push may still have taken effect.
      const withDoubt = (failure: RemoteError) =>
        type === "application/x-git-receive-pack-result" ? new LostReply(failure) : failure
      const header = yield* authorization
      const response = yield* http
        .execute(
          HttpClientRequest.setHeaders(request, {
            accept: type,
            "user-agent": userAgent,
            "git-protocol": "version=2",
            ...(Option.isSome(header) ? { authorization: Redacted.value(header.value) } : {})
          })
        )
        .pipe(
          Effect.provideService(FetchHttpClient.RequestInit, init),
          Effect.mapError((error) => {
            const cause = error.cause
            const message = `${new URL(url).origin} cannot be reached`
            return error._tag === "RequestError" && neverConnected(cause)
              ? remote("Unreachable", message, { cause, hint: checkNetwork })
              : lost("Unreachable", message, cause)
          }),
          Effect.timeoutFail({
            duration: timeout,
            onTimeout: () => lost("Timeout", `no response within ${Duration.format(timeout)}`)
          })
        )
      if (response.status !== 200) {
        const refused = refusal(response, yield* errorBody(response))
        return yield* (response.status >= 500 || response.status === 408) && refused._tag === "RemoteError"
          ? Effect.fail(new LostReply(refused))
          : Effect.fail(refused)
      }
      const contentType = response.headers["content-type"]?.split(";")[0]?.trim()
      if (contentType !== type) {
        return yield* Effect.fail(
          withDoubt(
            remote(
              "Corrupt",
              `${url} is not a Git server: it answered with ${contentType ?? "no content type"}`,
              {
                hint: "check the address; many servers want it to end in .git"
              }
            )
          )
        )
      }
      return response.stream.pipe(
        Stream.mapError((error) =>
          lost("Unreachable", "the connection ended inside a response", error.cause)
        ),
        Stream.timeoutFail(
          () => lost("Timeout", `no more of the response within ${Duration.format(timeout)}`),
          timeout
        )
      )
    })

  const post: Transport["post"] = (service, body) =>
    Stream.unwrap(
      execute(
        HttpClientRequest.bodyUint8Array(
          HttpClientRequest.post(`${url}/${service}`),
          body,
          `application/x-${service}-request`
        ),
        `application/x-${service}-result`
      )
    )

  return {
    advertisement: (service) =>
      collectResponse(
        url,
        "git-upload-pack",
        Stream.unwrap(
          execute(
            HttpClientRequest.get(`${url}/info/refs?service=${service}`),
            `application/x-${service}-advertisement`
          )
        )
      ),
    post
  }
}
