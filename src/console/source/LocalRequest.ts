import * as Effect from "effect/Effect"
import type { SessionView } from "../../http/console/Api.js"
import { loginPath, sessionTarget, sessionTargetHeader } from "../../http/console/session/Api.js"
import * as Problem from "../components/Problem.js"

// Loaded with the page, and therefore without schemas.

interface Request {
  readonly method: string
  readonly path: string
  /** The text of the body, except with GET. */
  readonly body?: string
}

/** The identity of the shown session, sent with every request. */
let sessionHeader: string | undefined

/** Sets the session that this page shows. */
export const rememberSession = (session: SessionView): SessionView => {
  sessionHeader = sessionTarget(session)
  return session
}

export const forgetSession = () => {
  sessionHeader = undefined
}

/** The reply comes from another version of the server than the page. */
export const otherVersion = () =>
  Problem.server("The server's response does not match this version of the page. Reload the page.")

const unreadable = (cause: unknown) =>
  Problem.server(`The server's response could not be read (${cause instanceof Error ? cause.message : "?"}).`)

/** The body of an error reply; a general one if the server sent none. */
const failureOf = (status: number, body: unknown) => {
  const { error, message } = (body ?? {}) as { readonly error?: unknown; readonly message?: unknown }
  return typeof error === "string" && typeof message === "string"
    ? { status, error, message }
    : { status: 502, error: "RemoteError", message: `The server responded with status ${status}.` }
}

const parsed = (text: string) => Effect.try({ try: () => JSON.parse(text) as unknown, catch: unreadable })

/** Sends a request to the local server and returns the JSON of its reply; undefined if it has none. */
export const request = ({ body, method, path }: Request): Effect.Effect<unknown, Problem.Problem> =>
  Effect.gen(function* () {
    const response = yield* Effect.tryPromise({
      try: (signal) =>
        fetch(path, {
          method,
          signal,
          cache: "no-store",
          credentials: "same-origin",
          headers: {
            ...(sessionHeader === undefined ? {} : { [sessionTargetHeader]: sessionHeader }),
            ...(body === undefined ? {} : { "content-type": "application/json" })
          },
          ...(body === undefined ? {} : { body })
        }),
      catch: () => Problem.offline("The local server did not respond.")
    })
    const text = yield* Effect.tryPromise({ try: () => response.text(), catch: unreadable })
    if (!response.ok) {
      if (response.status === 401 && path !== loginPath) return yield* Problem.signedOut()
      const reply = yield* Effect.orElseSucceed(parsed(text), () => undefined)
      const failure = failureOf(response.status, reply)
      return yield* Problem.fromResponse(failure.status, failure, response.headers.get("retry-after"))
    }
    return response.status === 204 ? undefined : yield* parsed(text)
  })
