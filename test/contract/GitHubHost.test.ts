import { FetchHttpClient } from "@effect/platform"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime, Option, Redacted, Stream } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import * as GitHub from "../../src/store/remote/github/GitHub.js"
import { headOf, put, readAt, text, writeNext } from "../../src/testing/remote/RemoteCommits.js"
import { problemsOf, seenOf } from "../support/github/Oracle.js"
import { ownProcess } from "../support/github/ownProcess.js"
import { HostServer, layer as host } from "../support/host/HostServer.js"
import { gitRemoteContract } from "./GitRemoteContract.js"

const principal = {
  id: "contract",
  login: "contract",
  grants: [{ repository: "*", access: "write" as const }]
}

const person = { name: "Somebody", email: "somebody@example.org", seconds: 1_700_000_000, offset: 60 }

// One server for all tests, which know each other as little as repositories of one host do.
const quiet = Logger.minimumLogLevel(LogLevel.Warning)
const hosting = ManagedRuntime.make(Layer.provide(host(), quiet))
afterAll(() => hosting.dispose())

let repositories = 0

/** A fresh repository, whose clients take these options in turn. */
const subject = (...ways: ReadonlyArray<Partial<GitHub.GitHubOptions>>) =>
  Effect.gen(function* () {
    const server = yield* Effect.flatMap(hosting.runtimeEffect, (runtime) =>
      Effect.provide(HostServer, runtime)
    )
    const name = `contract${++repositories}`
    yield* Effect.promise(() =>
      fetch(`${server.api}/user/repos`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.token}` },
        body: JSON.stringify({ name })
      }).then((answer) => answer.text())
    )
    const { git } = yield* server.repositories.openForRead(principal, "local", name)
    const point = (name: string, to: Oid) =>
      Effect.flatMap(git.ref(name), (at) => git.updateRef(name, at, Option.some(to)))
    const problems: Array<string> = []
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => assert.deepStrictEqual(problems, [], "every request is one of GitHub's"))
    )
    const checked: typeof fetch = async (input, init) => {
      problems.push(...problemsOf(await seenOf(server.url, input, init)))
      return fetch(input, init)
    }
    let clients = 0
    /** The nth writing request of the first client from now on is executed, but its reply is lost; 0: none. */
    let lostReply = 0
    const losing: typeof fetch = async (input, init) => {
      const reply = await checked(input, init)
      const body = init?.body instanceof Uint8Array ? Buffer.from(init.body).toString() : ""
      const writes = String(input).endsWith("/graphql") ? body.includes("mutation") : init?.method !== "GET"
      if (!writes || lostReply === 0 || --lostReply > 0) return reply
      await reply.arrayBuffer()
      throw new TypeError("terminated")
    }
    // Over REST equal commits of one second are one commit (as on GitHub), so every client signs with a name of its own.
    const connect = (transport: typeof fetch, token = server.token) =>
      Effect.suspend(() => {
        const options = ways[clients % ways.length]!
        const author = { name: `Client ${++clients}`, email: "client@example.org" }
        return GitHub.make({
          repo: `local/${name}`,
          apiUrl: server.api,
          rawUrl: server.raw,
          token: Redacted.make(token),
          paceRequests: false,
          ...(options.commitVia === "graphql" ? {} : { author }),
          ...options
        }).pipe(
          Effect.provide(
            Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, transport))
          ),
          ownProcess
        )
      })
    return {
      remote: yield* connect(losing),
      another: connect(checked),
      rejected: connect(checked, "ghp_wrong"),
      loseReply: (nth: number) =>
        Effect.sync(() => {
          lostReply = nth
        }),
      force: (branch: string, at: Oid) => point(`refs/heads/${branch}`, at),
      tag: (name: string, at: Oid) => point(`refs/tags/${name}`, at),
      merge: (parents: ReadonlyArray<Oid>, tree: Oid) =>
        git.writeCommit({ tree, parents, author: person, committer: person, message: "merge" })
    }
  })

const graphql = { useGraphql: true, commitVia: "graphql" } as const

// Small, but beyond every limit of the API: 1 MB of a content, 1,000 entries of a directory. Larger ones are soaked.
// A page of the API has 100.
const sizes = { files: 105, largeBlob: 1_200_000, listing: 1_100, fibres: 8, interruptions: 10 }

/** All of them at once take turns at one host. */
const timeout = 90_000

// Every test has a repository of its own, and most of its time is waiting for the other side.
describe.concurrent("over a socket", () => {
  gitRemoteContract({
    name: "GitHub's client over the host, by REST",
    make: subject({}),
    sizes,
    timeout,
    promises: { movedBackIsNoticed: false, clashesAreRefused: false, firstIsRoot: false }
  })

  gitRemoteContract({
    name: "GitHub's client over the host, by GraphQL",
    make: subject({ ...graphql, concurrency: 4 }),
    sizes,
    timeout,
    promises: { clashesAreRefused: false, firstIsRoot: false }
  })
})

it.scopedLive("eight clients of one repository, half of them by GraphQL, lose nothing", () =>
  Effect.gen(function* () {
    const each = 2
    const { another, remote } = yield* subject({}, graphql)
    const clients = [remote, ...(yield* Effect.all(Array.from({ length: 7 }, () => another)))]
    yield* writeNext(remote, () => Effect.succeed([put("count", "0")]))
    const count = (client: typeof remote) =>
      writeNext(client, (head) =>
        Effect.gen(function* () {
          const blob = Option.getOrThrow(yield* client.file(Option.getOrThrow(head), "count"))
          return [put("count", `${Number(text(blob.content)) + 1}`)]
        })
      )
    yield* Effect.forEach(
      clients,
      (client, index) =>
        Effect.forEach(
          Array.from({ length: each }, (_, round) => round),
          (round) =>
            Effect.zipRight(
              count(client),
              writeNext(client, () => Effect.succeed([put(`own/${index}-${round}`, `${round}`)]))
            )
        ),
      { concurrency: clients.length }
    )
    const head = yield* headOf(remote)
    assert.deepStrictEqual(yield* readAt(remote, head, "count"), Option.some(`${clients.length * each}`))
    assert.strictEqual(yield* Stream.runCount(remote.log(head, "")), 1 + 2 * clients.length * each)
    const own = Option.getOrThrow(yield* remote.tree(head, "own"))
    assert.strictEqual(own.entries.length, clients.length * each)
  })
)
