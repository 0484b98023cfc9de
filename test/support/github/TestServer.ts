import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { execute, GraphQLError, parse } from "graphql"
import { kindOf } from "../../../src/git/GitObject.js"
import type { MemoryCommit } from "../../../src/git/memory/MemoryRepository.js"
import { graphqlSchema, problemsOf, type Seen } from "./Oracle.js"
import { type HostReply, type HostRequest, TestHost } from "./TestHost.js"

/** What goes wrong with one request: the host is asked before (`after: false`) or not at all. */
export type Fault =
  /** The socket is closed without a word. */
  | { readonly _tag: "Reset"; readonly after: boolean }
  /** Half the body comes, then the socket is closed. */
  | { readonly _tag: "ResetMidBody" }
  /** Headers come, the body never ends. */
  | { readonly _tag: "Hang" }
  /** The body ends early, and says it is whole. */
  | { readonly _tag: "Truncate" }
  | { readonly _tag: "Answer"; readonly reply: HostReply; readonly after: boolean }
  /** The host gets the request twice; the second answer is given. */
  | { readonly _tag: "Duplicate" }

const failing = (status: number, after: boolean): Fault => ({
  _tag: "Answer",
  after,
  reply: { status, body: { message: "Server Error" } }
})

/** What may become of a reply, or of the request before it. */
export const faults: ReadonlyArray<readonly [string, Fault]> = [
  ["the connection is reset before it", { _tag: "Reset", after: false }],
  ["the connection is reset after it", { _tag: "Reset", after: true }],
  ["the reply is cut off in its middle", { _tag: "ResetMidBody" }],
  ["the reply never ends", { _tag: "Hang" }],
  ["the reply is half its JSON", { _tag: "Truncate" }],
  ...[500, 502, 503, 504].flatMap(
    (status): ReadonlyArray<readonly [string, Fault]> => [
      [`${status} before it`, failing(status, false)],
      [`${status} after it`, failing(status, true)]
    ]
  )
]

export interface Exchange extends Seen {
  readonly status: number
}

export interface TestServer {
  readonly url: string
  readonly raw: string
  readonly host: TestHost
  readonly seen: Array<Exchange>
  /** Requests that came and are not answered yet. */
  readonly pending: () => number
  readonly problems: Array<string>
  /** Asked for every request; undefined lets it pass. */
  fault: (request: Seen, index: number) => Fault | undefined
  /** Asked for every request before it takes effect, which waits for the promise. */
  arrives: (request: Seen) => Promise<unknown> | undefined
  /** Headers of every answer, for limits. */
  headers: (request: Seen) => { readonly [name: string]: string }
}

const blobView = (host: TestHost, oid: string) => {
  const content = host.repository.blobs.get(oid as never)
  if (content === undefined) return null
  const text = new TextDecoder().decode(content)
  const binary = content.includes(0)
  return {
    __typename: "Blob",
    id: oid,
    oid,
    byteSize: content.length,
    isBinary: binary,
    isTruncated: content.length > 512_000,
    text: binary ? null : text.length > 512_000 ? text.slice(0, 512_000) : text
  }
}

const treeView = (host: TestHost, oid: string): object => ({
  __typename: "Tree",
  id: oid,
  oid,
  entries: () =>
    [...(host.repository.trees.get(oid as never) ?? [])].map(([name, entry]) => entryView(host, name, entry))
})

const entryView = (
  host: TestHost,
  name: string,
  { mode, oid }: { readonly mode: string; readonly oid: string }
) => ({
  name,
  mode: Number.parseInt(mode, 8),
  type: kindOf(mode as never),
  oid,
  object: () => (mode === "040000" ? treeView(host, oid) : mode === "160000" ? null : blobView(host, oid))
})

const commitView = (host: TestHost, commit: MemoryCommit): object => ({
  __typename: "Commit",
  id: commit.oid,
  oid: commit.oid,
  message: commit.message,
  tree: treeView(host, commit.tree),
  repository: { __typename: "Repository", id: host.id },
  file: ({ path }: { readonly path: string }) => {
    const entry = host.repository.lookup(commit.tree, path)
    return entry === undefined ? null : entryView(host, path.slice(path.lastIndexOf("/") + 1), entry)
  }
})

const graphql = (host: TestHost, body: string): HostReply => {
  const { query, variables } = JSON.parse(body) as { readonly query: string; readonly variables: object }
  const object = ({ expression, oid }: { readonly expression?: string; readonly oid?: string }) => {
    if (oid !== undefined) {
      const commit = host.repository.commits.get(oid as never)
      return commit === undefined ? blobView(host, oid) : commitView(host, commit)
    }
    const [revision = "", ...path] = (expression ?? "").split(":")
    const root = host.repository.rootOf(revision as never) ?? host.resolve(revision)?.tree
    const entry = root === undefined ? undefined : host.repository.lookup(root, path.join(":"))
    return entry === undefined
      ? null
      : entry.mode === "040000"
        ? treeView(host, entry.oid)
        : blobView(host, entry.oid)
  }
  const result = execute({
    schema: graphqlSchema,
    document: parse(query),
    variableValues: variables as Record<string, unknown>,
    typeResolver: (value) => (value as { readonly __typename: string }).__typename,
    rootValue: {
      repository: ({ name, owner }: { readonly name: string; readonly owner: string }) =>
        `${owner}/${name}` === host.full
          ? {
              id: host.id,
              object,
              ref: ({ qualifiedName }: { readonly qualifiedName: string }) => {
                const found = host.branch(qualifiedName.replace(/^refs\/heads\//, ""))
                return found === undefined
                  ? null
                  : { id: qualifiedName, name: qualifiedName, prefix: "", target: commitView(host, found) }
              }
            }
          : null,
      createCommitOnBranch: ({ input }: { readonly input: Parameters<TestHost["commitOnBranch"]>[0] }) => {
        const made = host.commitOnBranch(input)
        if ("type" in made) throw new GraphQLError(made.message, { extensions: { type: made.type } })
        return { commit: commitView(host, made) }
      },
      updateRefs: ({ input }: { readonly input: Parameters<TestHost["updateRefs"]>[0] }) => {
        const refused = host.updateRefs(input)
        if (refused !== undefined) {
          throw new GraphQLError(refused.message, { extensions: { type: refused.type } })
        }
        return {}
      }
    }
  }) as { readonly data?: unknown; readonly errors?: ReadonlyArray<GraphQLError> }
  const errors = (result.errors ?? []).map((error) => ({
    type: error.extensions["type"] ?? "UNPROCESSABLE",
    path: error.path,
    message: error.message
  }))
  return { status: 200, body: { data: result.data ?? null, ...(errors.length > 0 ? { errors } : {}) } }
}

const flat = (message: IncomingMessage) =>
  Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join() : value
    ])
  )

const bytesOf = (body: unknown) =>
  body === undefined
    ? Buffer.alloc(0)
    : body instanceof Uint8Array
      ? Buffer.from(body)
      : Buffer.from(typeof body === "string" ? body : JSON.stringify(body))

/** A GitHub of its own on a real socket: `/api/v3`, `/api/graphql` and `/raw`, every request checked and counted. */
export const makeTestServer = (host: TestHost = new TestHost()) =>
  Effect.acquireRelease(
    Effect.async<{ readonly server: TestServer; readonly close: () => Promise<void> }>((resume) => {
      let pending = 0
      const state: TestServer = {
        url: "",
        raw: "",
        host,
        seen: [],
        problems: [],
        pending: () => pending,
        fault: () => undefined,
        arrives: () => undefined,
        headers: () => ({})
      }
      const answer = (seen: Seen, raw: string): HostReply => {
        const url = new URL(raw, "http://host")
        if (url.pathname === "/api/graphql") {
          return seen.body.includes('"mutation ')
            ? graphql(host, seen.body)
            : host.reading(() => graphql(host, seen.body))
        }
        if (url.pathname.startsWith("/raw/")) {
          const validator = seen.headers["if-none-match"]
          return host.reading(() => host.raw(decodeURIComponent(url.pathname.slice(4)), validator))
        }
        const request: HostRequest = {
          method: seen.method,
          pathname: decodeURIComponent(url.pathname.replace(/^\/api\/v3/, "")),
          query: url.searchParams,
          headers: seen.headers,
          body: seen.body
        }
        return host.handle(request)
      }
      const respond = (response: ServerResponse, reply: HostReply, headers: object, cut?: Fault) => {
        const bytes = bytesOf(reply.body)
        const sent = cut?._tag === "Truncate" ? bytes.subarray(0, Math.floor(bytes.length / 2)) : bytes
        response.writeHead(reply.status, {
          "content-type": "application/json; charset=utf-8",
          ...headers,
          ...reply.headers,
          ...(reply.status === 204 || reply.status === 304 ? {} : { "content-length": sent.length })
        })
        if (cut?._tag === "ResetMidBody") {
          response.write(sent.subarray(0, Math.floor(sent.length / 2)), () => response.socket?.destroy())
        } else if (cut?._tag === "Hang") {
          response.write(sent.subarray(0, 1))
        } else {
          response.end(reply.status === 204 || reply.status === 304 ? undefined : sent)
        }
      }
      const server = createServer((message, response) => {
        pending++
        let open = true
        const done = () => {
          if (open) pending--
          open = false
        }
        response.on("close", done)
        const chunks: Array<Buffer> = []
        message.on("data", (chunk: Buffer) => chunks.push(chunk))
        message.on("end", () => {
          const raw = message.url ?? "/"
          const seen: Seen = {
            method: message.method ?? "GET",
            url: raw.replace(/^\/api\/(v3)?/, (_, v3) => (v3 === undefined ? "/" : "")),
            headers: flat(message),
            body: Buffer.concat(chunks).toString("utf8")
          }
          if (!raw.startsWith("/raw/")) {
            state.problems.push(...problemsOf(seen).map((text) => `${seen.method} ${seen.url}: ${text}`))
          } else if (seen.headers["authorization"] !== undefined) {
            state.problems.push(`${seen.url}: the raw host got the token`)
          }
          const take = () => {
            const fault = state.fault(seen, state.seen.length)
            const headers = state.headers(seen)
            const record = (status: number) => void state.seen.push({ ...seen, status })
            if (fault?._tag === "Reset" && !fault.after) {
              record(0)
              message.socket.destroy()
              return
            }
            if (fault?._tag === "Answer" && !fault.after) {
              record(fault.reply.status)
              respond(response, fault.reply, headers)
              return
            }
            const reply = answer(seen, raw)
            const second = fault?._tag === "Duplicate" ? answer(seen, raw) : reply
            const last = fault?._tag === "Answer" ? fault.reply : second
            record(last.status)
            if (fault?._tag === "Reset") message.socket.destroy()
            else respond(response, last, headers, fault)
          }
          const waited = state.arrives(seen)
          if (waited === undefined) take()
          else void waited.then(take)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const made = Object.assign(state, {
          url: `http://127.0.0.1:${port}/api/v3`,
          raw: `http://127.0.0.1:${port}/raw`
        })
        resume(
          Effect.succeed({
            server: made,
            close: () =>
              new Promise<void>((closed) => {
                server.close(() => closed())
                server.closeAllConnections()
              })
          })
        )
      })
    }),
    ({ close }) => Effect.promise(close)
  ).pipe(Effect.map(({ server }) => server))

/** The names of the operations that were asked, in order. */
export const verbs = (server: TestServer) =>
  server.seen.map((exchange) => `${exchange.method} ${exchange.url.replace(/\/repos\/[^/]+\/[^/?]+/, "")}`)
