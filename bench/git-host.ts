/**
 * Writes and reads of a repository with 200 documents, by push (`GitHost`) beside GitHub's API, stock Git and isomorphic-git:
 * milliseconds and requests of the median round. `npm run bench git-host`.
 */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { promisify } from "node:util"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { Context, Effect, Layer, Logger, LogLevel, Redacted, type Scope } from "effect"
import isomorphic from "isomorphic-git"
import http from "isomorphic-git/http/node"
import { GitRemote, type GitRemoteService } from "../src/store/remote/GitRemote.js"
import * as GitHub from "../src/store/remote/github/GitHub.js"
import * as GitHost from "../src/store/remote/wire/GitHost.js"
import * as Store from "../src/store/Store.js"
import * as HttpBackend from "../test/support/git/HttpBackend.js"
import { newRepository } from "../test/support/github/OnHost.js"
import { HostServer, layer as host } from "../test/support/host/HostServer.js"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 7)
const callers = 64
const run = promisify(execFile)

let requests = 0
const counting = Layer.map(FetchHttpClient.layer, (context) =>
  Context.add(
    context,
    HttpClient.HttpClient,
    HttpClient.tapRequest(Context.get(context, HttpClient.HttpClient), () =>
      Effect.sync(() => void requests++)
    )
  )
)

interface Measured {
  readonly took: number
  readonly requests: number
}

const median = (all: ReadonlyArray<Measured>): Measured => {
  const sorted = [...all].sort((a, b) => a.took - b.took)
  return { took: sorted[all.length >> 1]!.took, requests: sorted[all.length >> 1]!.requests }
}

const measured = <A, E, R>(effect: Effect.Effect<A, E, R>, count: () => number = () => requests) =>
  Effect.suspend(() => {
    const [before, began] = [count(), performance.now()]
    return Effect.map(effect, () => ({ took: performance.now() - began, requests: count() - before }))
  })

const times = <E, R>(effect: (round: number) => Effect.Effect<Measured, E, R>) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: rounds }, (_, round) => round),
      effect
    ),
    median
  )

const show = (name: string, row: Readonly<Record<string, Measured>>) =>
  console.log(
    `${name.padEnd(34)} ${Object.entries(row)
      .map(([what, one]) => `${what}: ${one.took.toFixed(0)} ms, ${one.requests}`)
      .join(" | ")}`
  )

const storeOf = (remote: GitRemoteService) => Effect.provideService(Store.make(), GitRemote, remote)

/** The same operations on any remote; each cold one by a client of its own. */
const operations = (connect: Effect.Effect<GitRemoteService, unknown, Scope.Scope>) =>
  Effect.gen(function* () {
    const docs = (yield* Effect.flatMap(connect, storeOf)).collection("docs")
    const cold = (round: number, body: (store: Store.Store["Type"]) => Effect.Effect<unknown, unknown>) =>
      Effect.scoped(
        Effect.flatMap(connect, (remote) => Effect.flatMap(storeOf(remote), (store) => measured(body(store))))
      ).pipe(Effect.annotateLogs("round", round))
    yield* docs.update("d0", { n: -1 })
    return {
      "warm write": yield* times((round) => measured(docs.update("d0", { n: round }))),
      "cold write": yield* times((round) =>
        cold(round, (store) => store.collection("docs").update("d1", { n: round }))
      ),
      [`${callers} at once`]: yield* times((round) =>
        measured(
          Effect.forEach(
            Array.from({ length: callers }, (_, n) => n),
            (n) => docs.update(`d${n}`, { n: round }),
            { concurrency: "unbounded" }
          )
        )
      ),
      get: yield* times(() => measured(docs.get("d5", { fresh: true }))),
      "cold get": yield* times((round) => cold(round, (store) => store.collection("docs").get("d5")))
    }
  })

const seeded = (connect: Effect.Effect<GitRemoteService, unknown, Scope.Scope>) =>
  Effect.scoped(
    Effect.flatMap(Effect.flatMap(connect, storeOf), (store) =>
      store.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: 200 }), (_, n) =>
          batch.put("docs", `d${n}`, { n, text: "x".repeat(200) })
        )
      )
    )
  )

const wire = (url: string, token?: Redacted.Redacted<string>) =>
  Effect.flatMap(HttpClient.HttpClient, (session) =>
    GitHost.scoped({ url, session, ...(token === undefined ? {} : { token }) })
  ).pipe(Effect.provide(counting))

const author = { name: "Bench", email: "bench@example.org" }

const program = Effect.gen(function* () {
  const backend = yield* HttpBackend.make
  const url = backend.create("data.git")
  yield* seeded(wire(url))
  console.log("git http-backend")
  show("  GitHost", yield* operations(wire(url)))

  const clones = yield* Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "bench-git-host-"))),
    (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
  )
  const asked = () => backend.requests.length
  const place = path.join(clones, "stock")
  const git = (...args: ReadonlyArray<string>) =>
    Effect.promise(() =>
      run("git", ["-C", place, "-c", "user.name=Bench", "-c", "user.email=bench@example.org", ...args])
    )
  yield* Effect.promise(() => run("git", ["clone", "-q", url, place]))
  const changed = (directory: string, round: number) =>
    fs.writeFileSync(
      path.join(directory, "data/docs/d0.json"),
      JSON.stringify({ n: round, at: performance.now() })
    )
  show("  stock git push, fetch", {
    "warm write": yield* times((round) =>
      measured(
        Effect.suspend(() => {
          changed(place, round)
          return Effect.zipRight(git("commit", "-qam", "one"), git("push", "-q"))
        }),
        asked
      )
    ),
    fetch: yield* times(() => measured(git("fetch", "-q"), asked))
  })
  const dir = path.join(clones, "isomorphic")
  yield* Effect.promise(() => isomorphic.clone({ fs, http, dir, url }))
  show("  isomorphic-git push, fetch", {
    "warm write": yield* times((round) =>
      measured(
        Effect.promise(async () => {
          changed(dir, round)
          await isomorphic.add({ fs, dir, filepath: "data/docs/d0.json" })
          await isomorphic.commit({ fs, dir, message: "one", author })
          await isomorphic.push({ fs, http, dir })
        }),
        asked
      )
    ),
    fetch: yield* times(() =>
      measured(
        Effect.promise(() => isomorphic.fetch({ fs, http, dir })),
        asked
      )
    )
  })

  console.log("our own host")
  const server = Context.get(yield* Layer.build(host({ checked: false })), HostServer)
  const { repo } = yield* Effect.provideService(newRepository, HostServer, server)
  const token = Redacted.make(server.token)
  const byWire = wire(`${server.url}/${repo}.git`, token)
  yield* seeded(byWire)
  show("  GitHost", yield* operations(byWire))
  for (const [name, options] of [
    ["  GitHub, REST", {}],
    ["  GitHub, GraphQL", { useGraphql: true, commitVia: "graphql" }],
    ["  GitHub, push", { commitVia: "push" }]
  ] as const) {
    const connect = GitHub.scoped({
      repo,
      apiUrl: server.api,
      rawUrl: server.raw,
      token,
      paceRequests: false,
      ...options
    }).pipe(Effect.provide(counting))
    show(name, yield* operations(connect))
  }
})

await Effect.runPromise(Effect.scoped(program).pipe(Logger.withMinimumLogLevel(LogLevel.Error)))
process.exit(0)
