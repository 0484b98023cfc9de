import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger, LogLevel, Option, Stream } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import { gitServers } from "../../support/git/GitServers.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { bodyOf, forward, isForwarded, withoutCapabilities } from "../../support/git/WireFaults.js"

/** The missing capabilities of a server, its configuration, and the expected log messages. */
const servers = [
  ["version 2", { version2: true }, [], /version 0.*whole commits/s],
  [
    "version 2, and gives objects by id",
    { version2: true },
    ["uploadpack.allowAnySHA1InWant=true"],
    /version 0/
  ],
  ["filters", {}, ["uploadpack.allowFilter=false"], /^[^\n]*whole commits[^\n]*$/],
  [
    "atomic pushes, deletion and newer reports",
    { capabilities: ["atomic", "delete-refs", "report-status-v2", "quiet"] },
    [],
    /deletes no refs/
  ],
  ["a side band", { capabilities: ["side-band-64k", "side-band"] }, [], /^$/],
  [
    "nearly everything",
    {
      version2: true,
      capabilities: [
        "side-band-64k",
        "side-band",
        "atomic",
        "report-status-v2",
        "ofs-delta",
        "thin-pack",
        "no-progress",
        "filter",
        "multi_ack",
        "multi_ack_detailed"
      ]
    },
    ["receive.advertiseAtomic=false"],
    /version 0.*whole commits/s
  ]
] as const

describe("a store on a Git server that lacks", () => {
  for (const [name, lacks, settings, said] of servers) {
    it.scopedLive(
      name,
      () =>
        Effect.gen(function* () {
          const backend = yield* HttpBackend.make
          const url = backend.create("stripped.git", ...settings)
          const log: Array<string> = []
          const logger = Logger.make(
            ({ cause, message }) => void log.push(`${message} ${Cause.pretty(cause)}`)
          )
          const open = Effect.flatMap(GitHost.scoped({ url }), (remote) =>
            Effect.provideService(Store.make({ indexes: { people: ["city"] } }), GitRemote, remote)
          )
          yield* Effect.gen(function* () {
            backend.intercept = withoutCapabilities(backend, lacks)
            const one = yield* open
            const people = one.collection("people")
            yield* Effect.forEach(
              Array.from({ length: 8 }, (_, n) => n),
              (n) => people.insert({ n, city: n % 2 === 0 ? "Rome" : "Bern" }, { id: `p${n}` }),
              { concurrency: "unbounded" }
            )
            const first = backend.git("stripped.git", "rev-parse", "main")
            for (const n of [1, 2, 3]) yield* people.update("p1", { n: 10 + n })
            const other = yield* open
            const theirs = other.collection("people")
            assert.strictEqual(Option.getOrThrow(yield* theirs.get("p1"))["n"], 13)
            assert.deepStrictEqual(
              (yield* theirs.findBy("city", "Rome")).map(({ _id }) => _id),
              ["p0", "p2", "p4", "p6"]
            )
            yield* other.transaction({}, (tx) =>
              Effect.zipRight(
                tx.collection("people").update("p2", { n: 20 }),
                tx.collection("people").delete("p3")
              )
            )
            // A named branch is pushed from the beginning, since other clients may read it.
            yield* other.transaction({ branch: "named" }, (tx) =>
              tx.collection("people").update("p5", { n: 50 })
            )
            yield* people.update("p4", { n: 40 })
            assert.strictEqual(yield* Stream.runCount(other.collection("people").all()), 7)
            assert.strictEqual((yield* theirs.history("p1")).length, 4)
            // A commit that no ref points to, read by a client with an empty clone.
            const past = (yield* (yield* open).at(first)).collection("people")
            assert.strictEqual(Option.getOrThrow(yield* past.get("p1"))["n"], 1)
            assert.isTrue(Option.isNone(yield* other.resolveRef("1".repeat(40))))
            assert.strictEqual(
              backend.git("stripped.git", "for-each-ref", "--format=%(refname)", "refs/heads/main"),
              "refs/heads/main"
            )
            assert.strictEqual(backend.git("stripped.git", "fsck", "--strict", "--no-dangling"), "")
          }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
          assert.match([...new Set(log)].join("\n"), said)
        }),
      60_000
    )
  }

  it.scopedLive("a report of pushes, which is an error", () =>
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const url = backend.create("silent.git")
      backend.intercept = withoutCapabilities(backend, {
        capabilities: ["report-status", "report-status-v2"]
      })
      const store = yield* Effect.flatMap(GitHost.scoped({ url }), (remote) =>
        Effect.provideService(Store.make(), GitRemote, remote)
      )
      const error = yield* Effect.flip(store.collection("people").insert({ n: 1 }))
      assert.match(String(error), /does not report the outcome of a push/)
      assert.strictEqual(backend.git("silent.git", "for-each-ref"), "")
    })
  )

  it.scopedLive(
    "a reply to requests of version 2: the first call does not wait for its timeout",
    () =>
      Effect.gen(function* () {
        const server = gitServers.find(({ name }) => name === "node-git-server")!
        const { options } = yield* server.serve
        const remote = yield* GitHost.scoped({ ...options, timeout: "2 minutes" })
        const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
        yield* Effect.timeout(store.collection("notes").insert({ n: 1 }, { id: "a" }), "90 seconds")
        const other = yield* GitHost.scoped({ ...options, timeout: "2 minutes" })
        const reader = yield* Effect.provideService(Store.make(), GitRemote, other)
        const found = yield* Effect.timeout(reader.collection("notes").get("a"), "90 seconds")
        assert.strictEqual(Option.getOrThrow(found)["n"], 1)
      }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
    200_000
  )

  for (const [how, reply] of [
    ["does not reply to", () => {}],
    ["refuses", (response: ServerResponse) => response.writeHead(400).end()]
  ] as const) {
    it.scopedLive(
      `version 2, which it ${how}: concurrent first callers ask once for the version`,
      () =>
        Effect.gen(function* () {
          const backend = yield* HttpBackend.make
          const url = backend.create("asked.git")
          const store = (at: string) =>
            Effect.flatMap(GitHost.scoped({ url: at, timeout: "60 seconds" }), (remote) =>
              Effect.provideService(Store.make(), GitRemote, remote)
            )
          const notes = (yield* store(url)).collection("notes")
          const commits: Array<string> = []
          for (const n of [1, 2, 3, 4, 5, 6]) {
            yield* n === 1 ? notes.insert({ n }, { id: "a" }) : notes.update("a", { n })
            commits.push(backend.git("asked.git", "rev-parse", "main"))
            backend.git("asked.git", "branch", `branch-${n}`, "main")
          }
          const asked = new Set<string>()
          backend.intercept = (request, response, run) => {
            request.headers["git-protocol"] = ""
            if (request.method !== "POST" || isForwarded(request)) {
              run()
              return true
            }
            void bodyOf(request).then(async (body) => {
              if (body.includes("command=")) {
                for (const [, oid] of body.toString("latin1").matchAll(/want ([0-9a-f]{40})/g))
                  asked.add(oid!)
                return reply(response)
              }
              const { bytes, status, type } = await forward(backend, request, body)
              response.writeHead(status, { "content-type": type }).end(bytes)
            })
            return true
          }
          const reader = yield* store(url)
          const before = backend.requests.length
          // Callers share the lookup of a branch, but not the fetch of a commit.
          const found = yield* Effect.forEach(
            commits,
            (commit) => Effect.flatMap(reader.at(commit), (past) => past.collection("notes").get("a")),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            found.map((note) => Option.getOrThrow(note)["n"]),
            [1, 2, 3, 4, 5, 6]
          )
          // Each of them has asked by version 2, and one of them for the version.
          assert.deepStrictEqual([...asked].sort(), [...commits].sort())
          const advertisements = backend.requests.slice(before).filter(({ method }) => method === "GET")
          assert.lengthOf(advertisements, 1)
        }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
      40_000
    )
  }
})
