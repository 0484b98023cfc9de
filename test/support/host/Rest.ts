import { Clock, Effect } from "effect"
import { HostServer } from "./HostServer.js"

/** Tests narrow the type by assertions. */
export type Json = any

export interface RestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; undefined if it is not JSON. */
  readonly body: Json
}

export interface RestRequest {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Another token, or none for an anonymous request. */
  readonly token?: string | null
}

/** Sends one request to the host under test without following redirects. */
export const request = (method: string, path: string, options: RestRequest = {}) =>
  Effect.flatMap(HostServer, ({ api, token, url, version }) =>
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
          ...(version === undefined ? {} : { "x-github-api-version": version }),
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
      if (answer.status === 599) throw new Error(`${method} ${path}: ${text}`)
      return { status: answer.status, headers: answer.headers, text, body: json }
    })
  )

export const get = (path: string, options?: RestRequest) => request("GET", path, options)

/** Runs a GraphQL document. Fails the test if the status is not 200. */
export const graphql = (query: string, variables: Record<string, unknown> = {}, options: RestRequest = {}) =>
  Effect.map(
    request("POST", "/api/graphql", { ...options, body: { query, variables } }),
    (answer) => answer.body as { readonly data?: Json; readonly errors?: ReadonlyArray<Json> }
  )

export const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64")

/** Creates a repository with one commit per file and returns its head. */
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
    const hosted = yield* repositories.openForRead(
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
