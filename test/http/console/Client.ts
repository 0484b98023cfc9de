import { request as send } from "node:http"
import { Data, Effect, Layer } from "effect"
import { ConsoleService, repo, layer as service } from "../../support/browser/ConsoleService.js"
import { seed } from "../../support/browser/Seed.js"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
  /** The parsed JSON body; null if there is none. */
  readonly body: any
  /** The session cookie of the reply, as a browser would send it back. */
  readonly cookie: string | undefined
}

export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly cause: unknown }> {}

/** Sends exactly these headers. `fetch` does not allow setting Host, Origin or Cookie. */
export const ask = (
  url: string,
  method: string,
  path: string,
  options: {
    readonly body?: unknown
    readonly cookie?: string | undefined
    readonly headers?: Readonly<Record<string, string>>
    readonly bare?: boolean
  } = {}
): Effect.Effect<Answer, NoAnswer> =>
  Effect.async((resume) => {
    const { host, hostname, origin, port } = new URL(url)
    const text =
      options.body === undefined
        ? undefined
        : typeof options.body === "string"
          ? options.body
          : JSON.stringify(options.body)
    const sent = send(
      {
        hostname,
        port,
        method,
        path,
        agent: false,
        headers: {
          host,
          ...(options.bare === true || method === "GET" ? {} : { origin }),
          ...(text === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
          ...(options.cookie === undefined ? {} : { cookie: options.cookie }),
          ...options.headers
        }
      },
      (reply) => {
        let read = ""
        reply.setEncoding("utf8")
        reply.on("data", (part: string) => {
          read += part
        })
        reply.on("end", () => {
          const cookie = reply.headers["set-cookie"]?.[0]?.split(";")[0]
          let body: unknown = null
          try {
            body = JSON.parse(read)
          } catch {}
          resume(
            Effect.succeed({ status: reply.statusCode!, headers: reply.headers, text: read, body, cookie })
          )
        })
      }
    )
    sent.on("error", (cause) => resume(Effect.fail(new NoAnswer({ cause }))))
    sent.end(text)
  })

/** The sign-in body for the repository of the tests, which needs a token. */
export const shop = { api: "embedded", repo }

/** The service over a seeded repository. */
export const seeded = service().pipe(
  Layer.tap((context) =>
    Effect.flatMap(ConsoleService, ({ store }) => seed(store)).pipe(Effect.provide(context), Effect.orDie)
  )
)

export const signIn = (body?: unknown) =>
  Effect.flatMap(ConsoleService, ({ token, url }) =>
    ask(url, "POST", "/api/login", { body: body ?? { ...shop, token } })
  )

/** Runs requests in a new session. */
export const signedIn = Effect.gen(function* () {
  const { url } = yield* ConsoleService
  const { cookie } = yield* signIn()
  return {
    cookie,
    get: (path: string) => ask(url, "GET", path, { cookie }),
    post: (path: string, body: unknown = {}) => ask(url, "POST", path, { cookie, body })
  }
})

/** A request of a test, with its headers. */
export type Asked = readonly [method: string, path: string, body?: unknown]

/** Sends the requests and returns descriptions of wrong replies. */
export const wrongAnswers = <E, R>(
  asked: Iterable<Asked>,
  send: (...one: Asked) => Effect.Effect<Pick<Answer, "status" | "text">, E, R>,
  isRight: (answer: Pick<Answer, "status" | "text">) => boolean,
  concurrency = 1
) =>
  Effect.map(
    Effect.forEach(
      asked,
      (one) =>
        Effect.map(send(...one), (answer) =>
          isRight(answer)
            ? []
            : [`${JSON.stringify(one).slice(0, 200)}: ${answer.status} ${answer.text.slice(0, 200)}`]
        ),
      { concurrency }
    ),
    (told) => told.flat()
  )
