import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Endpoint } from "../../domain/http/Endpoint.js"
import * as Api from "../../http/console/Api.js"
import * as Problem from "../components/Problem.js"

const unreadable = (cause: unknown) =>
  Problem.server(`The server's response could not be read (${cause instanceof Error ? cause.message : "?"}).`)

/** Calls an endpoint with its payload. */
export type Call = <P, A>(endpoint: Endpoint<string, P, A>, payload: P) => Effect.Effect<A, Problem.Problem>

/** The identity of the shown session, sent with every request. */
let sessionHeader: string | undefined

/** Sets the session that this page shows. */
export const rememberSession = (session: Api.SessionView): Api.SessionView => {
  sessionHeader = Api.sessionTarget(session)
  return session
}

export const forgetSession = () => {
  sessionHeader = undefined
}

/** Calls an endpoint of the local server. */
export const call: Call = <P, A>(endpoint: Endpoint<string, P, A>, payload: P) =>
  Effect.gen(function* () {
    const body =
      endpoint.body === undefined
        ? "{}"
        : JSON.stringify(yield* Effect.orDie(Schema.encode(endpoint.body)(payload)))
    const response = yield* Effect.tryPromise({
      try: (signal) =>
        fetch(endpoint.path, {
          method: endpoint.method,
          signal,
          cache: "no-store",
          credentials: "same-origin",
          headers: {
            ...(sessionHeader === undefined ? {} : { [Api.sessionTargetHeader]: sessionHeader }),
            ...(endpoint.method === "GET" ? {} : { "content-type": "application/json" })
          },
          ...(endpoint.method === "GET" ? {} : { body })
        }),
      catch: () => Problem.offline("The local server did not respond.")
    })
    const text = yield* Effect.tryPromise({ try: () => response.text(), catch: unreadable })
    if (!response.ok) {
      const failure = yield* Effect.try({ try: () => JSON.parse(text) as unknown, catch: unreadable }).pipe(
        Effect.flatMap(Schema.decodeUnknown(Api.Failure)),
        Effect.mapError(() =>
          Problem.fromResponse(
            502,
            { error: "RemoteError", message: `The server responded with status ${response.status}.` },
            null
          )
        )
      )
      if (response.status === 401 && endpoint.path !== Api.login.path) return yield* Problem.signedOut()
      return yield* Problem.fromResponse(response.status, failure, response.headers.get("retry-after"))
    }
    if (response.status === 204) return undefined as A
    const json = yield* Effect.try({ try: () => JSON.parse(text) as unknown, catch: unreadable })
    return yield* Effect.mapError(Schema.decodeUnknown(endpoint.reply)(json), () =>
      Problem.server("The server's response does not match this version of the page. Reload the page.")
    )
  })
