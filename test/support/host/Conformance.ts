import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, type Scope, Stream } from "effect"
import { type ApiVersion, errorProblems, listed, operationOf, replyProblems } from "../github/Oracle.js"
import { restErrors } from "./DocumentedErrors.js"
import { graphqlProblems } from "./GraphQlConformance.js"

/** A request to the host's API and its reply. */
export interface CheckedReply {
  readonly method: string
  /** The path without the API's prefix and the query. */
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown
}

/**
 * Operations that GitHub serves but does not describe: the legacy path, and the described operation that it equals.
 */
const undescribed: ReadonlyArray<readonly [pattern: RegExp, operation: (body: unknown) => string]> = [
  [
    /^\/repos\/[^/]+\/[^/]+\/git\/refs(\/.*)?$/,
    (body) => (Array.isArray(body) ? "git/list-matching-refs" : "git/get-ref")
  ],
  [/^\/repos\/[^/]+\/[^/]+\/git\/matching-refs$/, () => "git/list-matching-refs"],
  [/^\/repos\/[^/]+\/[^/]+\/contents$/, () => "repos/get-content"],
  // The described template allows only one path segment.
  [/^\/repos\/[^/]+\/[^/]+\/readme\/.+$/, () => "repos/get-readme-in-directory"],
  [/^\/repos\/[^/]+\/[^/]+\/git\/trees\/.+$/, () => "git/get-tree"],
  [/^\/repos\/[^/]+\/[^/]+\/tarball$/, () => "repos/download-tarball-archive"],
  [/^\/repos\/[^/]+\/[^/]+\/zipball$/, () => "repos/download-zipball-archive"]
]

const idOf = ({ body, method, path }: CheckedReply): string | undefined => {
  const asked = method === "HEAD" ? "GET" : method
  const known = operationOf(asked, path)?.operation.operationId
  if (known !== undefined || asked !== "GET") return known
  return undescribed.find(([pattern]) => pattern.test(path))?.[1](body)
}

const versionOf = (headers: CheckedReply["headers"]): ApiVersion =>
  headers["x-github-api-version-selected"] === "2026-03-10" ? "2026-03-10" : "2022-11-28"

const common = [
  "access-control-allow-origin",
  "access-control-expose-headers",
  "vary",
  "x-github-api-version-selected",
  "x-github-media-type",
  "x-github-request-id",
  ...["limit", "remaining", "reset", "resource", "used"].map((name) => `x-ratelimit-${name}`)
]

/** Which replies GitHub allows to be cached, from the recordings of `@octokit/fixtures`. */
const isKept = (status: number) => status === 304 || (status < 300 && status !== 204)

const documentation = /^https:\/\/docs\.github\.com\/(rest|graphql)/

/** Checks an error reply: its text, its members, and whether the operation may return it. */
const refusalProblems = (
  id: string | undefined,
  { body, method, status }: CheckedReply
): ReadonlyArray<string> => {
  // A reply to HEAD has no body, so its message is unknown.
  if (method === "HEAD" && body === undefined) return []
  const { documentation_url, message, status: told } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (
    typeof message !== "string" ||
    told !== String(status) ||
    !documentation.test(String(documentation_url))
  )
    return [`not an error of GitHub's: ${JSON.stringify(body)?.slice(0, 300)}`]
  const row = restErrors.find((one) => one.status.includes(status) && one.message.test(message))
  if (row === undefined) return [`${JSON.stringify(message)} is not in the table of refusals`]
  if (id === undefined) return row.unlisted === "any" ? errorProblems(body) : [`there is no such operation`]
  if (listed(id, status) !== undefined) return replyProblems(id, status, body)
  return row.unlisted === "any" || row.unlisted?.includes(id) === true
    ? errorProblems(body)
    : [`${id} answers no ${status} (${message})`]
}

const mediaOf = (headers: CheckedReply["headers"]) =>
  /param=([a-z]+)/.exec(headers["x-github-media-type"] ?? "")?.[1]

/** Returns the differences between a REST reply and GitHub's description. */
export const restProblems = (answered: CheckedReply): ReadonlyArray<string> => {
  const { body, headers, status } = answered
  const id = idOf(answered)
  const missing = common.filter((name) => headers[name] === undefined).map((name) => `no ${name}`)
  if (isKept(status) !== (headers["cache-control"] !== undefined))
    missing.push(`cache-control: ${headers["cache-control"]} of a ${status}`)
  if (status >= 400) return [...missing, ...refusalProblems(id, answered)]
  if (id === undefined) return [...missing, "there is no such operation"]
  // Every conditional read may reply 304, as GitHub's best practices document.
  if (status === 304) return body === undefined ? missing : [...missing, "304 with a body"]
  const expected = listed(id, status)
  if (expected === undefined) return [...missing, `${id} answers no ${status}`]
  for (const name of expected.headers) if (headers[name] === undefined) missing.push(`no ${name}`)
  const media = mediaOf(headers)
  if (body === undefined || (media !== undefined && media !== "object")) return missing
  const options = {
    version: versionOf(headers),
    ...(media === "object" ? { media: "application/vnd.github.object" } : {})
  }
  return [...missing, ...replyProblems(id, status, body, options)]
}

type Response = HttpServerResponse.HttpServerResponse

const isJson = (response: Response) => /^application\/json/.test(response.headers["content-type"] ?? "")

const parsed = (text: string): unknown => (text === "" ? undefined : JSON.parse(text))

const pathOf = (url: string) => url.split("?")[0]!

const isGraphQl = (url: string) => ["/graphql", "/api/graphql"].includes(pathOf(url))

/** An HTTP exchange with the host's API, as client and server see it. */
export interface HttpExchange {
  readonly method: string
  /** The path and query. */
  readonly url: string
  /** The request body of a GraphQL request. */
  readonly requestBody?: string
  readonly status: number
  readonly headers: CheckedReply["headers"]
  /** The reply body, if it is JSON. */
  readonly text: string | undefined
}

/** Returns the differences between a reply of REST or GraphQL and GitHub's descriptions; empty for other paths. */
export const exchangeProblems = ({
  requestBody: asked = "",
  headers,
  method,
  status,
  text,
  url
}: HttpExchange): ReadonlyArray<string> => {
  if (headers["x-github-request-id"] === undefined) return []
  const body = text === undefined ? undefined : parsed(text)
  if (isGraphQl(url) && status === 200) return graphqlProblems(asked, body)
  return restProblems({
    method,
    path: pathOf(url).replace(/^\/api\/v3(?=\/|$)/, "") || "/",
    status,
    headers,
    body
  })
}

const isQuery = (request: HttpServerRequest.HttpServerRequest, response: Response) =>
  isGraphQl(request.url) && response.status === 200

/** A request whose body is recorded while it is read, because it can be read only once. */
const watched = (request: HttpServerRequest.HttpServerRequest) => {
  const chunks: Array<Uint8Array> = []
  const stream = Stream.tap(request.stream, (chunk) => Effect.sync(() => void chunks.push(chunk)))
  const text = Effect.suspend(() =>
    chunks.length === 0 ? Effect.orDie(request.text) : Effect.succeed(Buffer.concat(chunks).toString())
  )
  const asked = new Proxy(request, {
    get: (target, key) => (key === "stream" ? stream : Reflect.get(target, key, target))
  })
  return { asked, text } as const
}

/** Checks every reply of the host's API. A reply that differs from GitHub's becomes a 599 with the reason. */
export const make = () => {
  const found: Array<string> = []

  const judge = (
    request: HttpServerRequest.HttpServerRequest,
    query: Effect.Effect<string>,
    response: Response,
    text: string | undefined
  ) =>
    // The body of a request that failed early is not read, because it may never arrive.
    Effect.map(isQuery(request, response) ? query : Effect.succeed(""), (asked) => {
      const { method, url } = request
      const { headers, status } = response
      const wrong = exchangeProblems({ method, url, requestBody: asked, status, headers, text })
      for (const problem of wrong) found.push(`${method} ${url}: ${status}: ${problem}`)
      return wrong
    })

  const around = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R | Scope.Scope> =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const { asked, text: query } = watched(request)
      const answered = Effect.provideService(app, HttpServerRequest.HttpServerRequest, asked)
      return Effect.flatMap(answered, (response): Effect.Effect<Response> => {
        const { body } = response
        if (response.headers["x-github-request-id"] === undefined) return Effect.succeed(response)
        if (body._tag === "Stream" && isJson(response)) {
          const chunks: Array<Uint8Array> = []
          const seen = Stream.tap(body.stream, (chunk) => Effect.sync(() => void chunks.push(chunk))).pipe(
            Stream.concat(
              Stream.execute(
                Effect.suspend(() => judge(request, query, response, Buffer.concat(chunks).toString()))
              )
            )
          )
          return Effect.succeed(
            HttpServerResponse.stream(seen, { status: response.status, headers: response.headers })
          )
        }
        const text =
          body._tag === "Empty" || body._tag === "Stream" || !isJson(response)
            ? undefined
            : body._tag === "Raw"
              ? String(body.body)
              : body._tag === "Uint8Array"
                ? Buffer.from(body.body).toString()
                : undefined
        return Effect.map(judge(request, query, response, text), (wrong) =>
          wrong.length === 0
            ? response
            : HttpServerResponse.text(`not as GitHub answers: ${wrong.join("; ")}`, { status: 599 })
        )
      })
    })

  return { around, found } as const
}
