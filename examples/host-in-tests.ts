/**
 * A GitHub-compatible host in a test: a free port, repositories in a temporary directory, the GitHub client over HTTP, and
 * the laws of stores.
 *
 * Output:
 * 3 notes, 2 of them green, written over HTTP
 * 4 laws of a store hold
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FetchHttpClient } from "@effect/platform"
import { Server } from "chainstore/http"
import { Service, Settings } from "chainstore/layers"
import { GitHub, Store } from "chainstore/store"
import { StoreLaws } from "chainstore/testing"
import { ConfigProvider, Console, Effect, Layer, Logger, Redacted } from "effect"

const token = "a-token-of-the-test"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "host-in-tests-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The host alone, as `npm run host` starts it; it ends with its scope. */
const host = Layer.unwrapScoped(
  Effect.gen(function* () {
    const told = { PORT: "0", CHAINSTORE_DATA: yield* directory, CHAINSTORE_HOST_TOKEN: token }
    const provider = ConfigProvider.fromMap(new Map(Object.entries(told)))
    return Service.layerHost(yield* Effect.withConfigProvider(Settings.settings, provider))
  })
)

let repositories = 0

/** The client of a repository, which the first write makes. */
const remote = (repo: string) =>
  Layer.unwrapEffect(
    Effect.map(Server.Server, ({ url }) =>
      GitHub.layer({
        repo,
        apiUrl: `${url}/api/v3`,
        rawUrl: `${url}/raw`,
        token: Redacted.make(token),
        paceRequests: false
      })
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))

const notes = Effect.gen(function* () {
  const collection = (yield* Store).collection("notes")
  yield* collection.importRecords([{ colour: "green" }, { colour: "red" }, { colour: "green" }])
  const green = yield* collection.findBy("colour", "green")
  yield* Console.log(`${yield* collection.count} notes, ${green.length} of them green, written over HTTP`)
}).pipe(Effect.provide(Layer.provide(Store.layer({ indexes: { notes: ["colour"] } }), remote("local/notes"))))

/** Some of `StoreLaws.all`, each in a repository of its own. */
const some = ["revisions", "batches", "transactions", "restoring"] as const

const laws = Effect.flatMap(Effect.context<Server.Server>(), (context) =>
  Effect.forEach(
    some,
    (name) =>
      Effect.promise(() => {
        const client = Layer.provide(remote(`local/law${++repositories}`), Layer.succeedContext(context))
        return StoreLaws.check(StoreLaws.all[name], StoreLaws.fromLayer(client), { numRuns: 1 })
      }),
    { concurrency: 4, discard: true }
  )
).pipe(Effect.zipRight(Console.log("4 laws of a store hold")))

const quiet = Logger.remove(Logger.defaultLogger)

await Effect.runPromise(Effect.provide(Effect.zipRight(notes, laws), Layer.provideMerge(host, quiet)))
