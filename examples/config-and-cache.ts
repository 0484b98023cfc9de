/**
 * Configuration determines the repository of a store, and its cache is a service of the program. The same code reads the
 * environment in production and a map in a test.
 *
 * Output:
 * found in docs on branch main: hello
 * 1 entry in the cache
 * Missing configuration: DATA_DIRECTORY
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LocalGit } from "chainstore/local"
import { Cache, type CacheEntry, Store, StoreCache } from "chainstore/store"
import { Config, ConfigError, ConfigProvider, Console, Effect, Layer, Option } from "effect"

/** A cache of our own: methods give effects, and an entry is kept whole. */
class MapCache extends Cache {
  readonly entries = new Map<string, CacheEntry>()
  get(key: string) {
    return Effect.sync(() => Option.fromNullable(this.entries.get(key)))
  }
  set(key: string, entry: CacheEntry) {
    return Effect.sync(() => void this.entries.set(key, entry))
  }
  delete(key: string) {
    return Effect.sync(() => void this.entries.delete(key))
  }
  readonly clear = Effect.sync(() => this.entries.clear())
}

const remote = LocalGit.layerConfig({ directory: Config.string("DATA_DIRECTORY") })

const cache = new MapCache()

/** The store takes the cache that is provided. */
const layer = Store.layerConfig({ root: Config.withDefault(Config.string("ROOT"), "docs") }).pipe(
  Layer.provide(Layer.succeed(StoreCache, cache)),
  Layer.provide(remote)
)

const program = Effect.gen(function* () {
  const { branch, collection, root } = yield* Store
  yield* collection("notes").insert({ text: "hello" }, { id: "a" })
  const { text } = yield* Effect.flatten(collection("notes").get("a"))
  yield* Console.log(`found in ${root} on branch ${branch}: ${text}`)
  yield* Console.log(`${cache.entries.size} entry in the cache`)
})

const configured = (values: Record<string, string>) =>
  Effect.provide(program, layer).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values))))
  )

const directory = mkdtempSync(join(tmpdir(), "config-and-cache-"))
await Effect.runPromise(configured({ DATA_DIRECTORY: directory }))
rmSync(directory, { recursive: true, force: true })

const missing = configured({}).pipe(
  Effect.catchIf(ConfigError.isConfigError, (error) =>
    Console.log(ConfigError.isMissingData(error) ? `Missing configuration: ${error.path.join(".")}` : "")
  )
)
await Effect.runPromise(missing)
