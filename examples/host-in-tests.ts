/**
 * A GitHub-compatible host inside a test: a free port of this machine, repositories in a directory that goes with it,
 * the GitHub client over HTTP, and the laws of a store held against it all.
 *
 * Output:
 * 3 notes, 2 of them green, written over HTTP
 * every law of a store holds
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

/** A store in a repository of its own, which the first write makes. */
const store = Layer.unwrapEffect(
  Effect.map(Server.Server, ({ url }) =>
    Layer.provide(
      Store.layer({ indexes: { notes: ["colour"] } }),
      GitHub.layer({
        repo: `local/test${++repositories}`,
        apiUrl: `${url}/api/v3`,
        rawUrl: `${url}/raw`,
        token: Redacted.make(token),
        paceRequests: false
      })
    )
  )
).pipe(Layer.provide(FetchHttpClient.layer))

const notes = Effect.gen(function* () {
  const collection = (yield* Store).collection("notes")
  yield* collection.importRecords([{ colour: "green" }, { colour: "red" }, { colour: "green" }])
  const green = yield* collection.findBy("colour", "green")
  yield* Console.log(`${yield* collection.count} notes, ${green.length} of them green, written over HTTP`)
})

const laws = Effect.forEach(StoreLaws.all, (law) => Effect.provide(law.check, Layer.fresh(store)), {
  concurrency: 4,
  discard: true
}).pipe(Effect.zipRight(Console.log("every law of a store holds")))

const quiet = Logger.remove(Logger.defaultLogger)

await Effect.runPromise(
  Effect.provide(
    Effect.zipRight(Effect.provide(notes, Layer.fresh(store)), laws),
    Layer.provideMerge(host, quiet)
  )
)
