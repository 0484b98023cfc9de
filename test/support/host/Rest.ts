import { Clock, Effect } from "effect"
import { operationOf, replyProblems } from "../github/Oracle.js"
import { HostServer } from "./HostServer.js"

/** What a test looks at is what it asserts. */
export type Json = any

export interface RestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly body: Json
}

export interface RestRequest {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Another token, or none. */
  readonly token?: string | null
}

/** Statuses that GitHub's description mostly leaves out, or (422) describes in two ways that both fit. */
const unlisted = new Set([400, 401, 403, 404, 406, 409, 413, 415, 422, 429])

/** What GitHub's own description finds wrong with a reply. */
const problemsOf = (method: string, path: string, answer: RestAnswer): ReadonlyArray<string> => {
  const route = operationOf(method, path.split("?")[0]!)
  if (route === undefined || answer.status >= 500) return []
  const type = answer.headers.get("content-type") ?? ""
  if (answer.status >= 400) {
    const { body } = answer
    const shaped = typeof body?.message === "string" && body.status === String(answer.status)
    if (!shaped || !/^https:\/\/docs\.github\.com\//.test(body.documentation_url))
      return [`not an error: ${answer.text}`]
    if (unlisted.has(answer.status)) return []
  }
  const special = /param=/.test(answer.headers.get("x-github-media-type") ?? "")
  if (answer.status === 304 || special || !type.startsWith("application/json")) return []
  return replyProblems(route.operation.operationId, answer.status, answer.body)
}

/** Sends one request to the host under test, as curl would: redirects are not followed. */
export const request = (method: string, path: string, options: RestRequest = {}) =>
  Effect.flatMap(HostServer, ({ api, token, url }) =>
    Effect.promise(async (signal): Promise<RestAnswer> => {
      const own = options.token === undefined ? token : options.token
      const body =
        options.body === undefined || typeof options.body === "string" || options.body instanceof Uint8Array
          ? options.body
          : JSON.stringify(options.body)
      const base = path.startsWith("/api/") || path.startsWith("/raw/") ? url : api
      const answer = await fetch(base + path, {
        method,
        signal,
        redirect: "manual",
        headers: {
          "user-agent": "chainstore-test",
          connection: "close",
          ...(own === null ? {} : { authorization: `Bearer ${own}` }),
          ...options.headers
        },
        ...(body === undefined ? {} : { body: body as string })
      })
      const text = await answer.text()
      let json: unknown
      try {
        json = JSON.parse(text)
      } catch {
        json = undefined
      }
      const reply = { status: answer.status, headers: answer.headers, text, body: json }
      // The description is of the older version.
      const described = base === api && options.headers?.["x-github-api-version"] !== "2026-03-10"
      const problems = described ? problemsOf(method, path, reply) : []
      if (problems.length > 0) throw new Error(`${method} ${path}: ${problems.join("; ")}`)
      return reply
    })
  )

export const get = (path: string, options?: RestRequest) => request("GET", path, options)

/** Runs a GraphQL document; fails the test when the answer is not 200. */
export const graphql = (query: string, variables: Record<string, unknown> = {}, options: RestRequest = {}) =>
  Effect.map(
    request("POST", "/api/graphql", { ...options, body: { query, variables } }),
    (answer) => answer.body as { readonly data?: Json; readonly errors?: ReadonlyArray<Json> }
  )

export const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64")

/** Makes a repository with some files in one commit each path; answers the head. */
export const repository = (
  name: string,
  files: Readonly<Record<string, string | Uint8Array>> = {},
  settings: Record<string, unknown> = {}
) =>
  Effect.gen(function* () {
    const { repositories } = yield* HostServer
    const made = yield* request("POST", "/user/repos", { body: { name, ...settings } })
    if (made.status !== 201) throw new Error(`${name} was not made: ${made.text}`)
    if (Object.keys(files).length === 0) return undefined
    const hosted = yield* repositories.reading(
      { id: "test", login: "test", grants: [{ repository: "*", access: "write" }] },
      "local",
      name
    )
    const { committed } = yield* hosted.git.commitNext("main", () =>
      Effect.succeed({
        commit: {
          _tag: "Some" as const,
          value: {
            message: "seed",
            changes: Object.entries(files).map(([path, content]) => ({
              _tag: "Put" as const,
              path,
              content: Buffer.from(content)
            }))
          }
        } as never,
        result: undefined
      })
    )
    return committed._tag === "Some" ? committed.value : undefined
  }).pipe(Effect.scoped, Effect.orDie, Effect.withClock(Clock.make()))
