/**
 * Where a store is comes from configuration, and its cache is a service of the program: the same code reads the
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
import { Cache, type CacheEntry, Store } from "chainstore/store"
import { Config, ConfigError, ConfigProvider, Console, Context, Effect, Layer, Option } from "effect"

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

class Cached extends Context.Tag("example/Cached")<Cached, MapCache>() {}

const remote = LocalGit.layerConfig({ directory: Config.string("DATA_DIRECTORY") })

/** The store takes its cache from the context. */
const store = Layer.unwrapEffect(
  Effect.map(Cached, (cache) =>
    Store.layerConfig({
      root: Config.withDefault(Config.string("ROOT"), "docs"),
      cache: Config.succeed(cache)
    })
  )
)

const layer = Layer.provideMerge(
  Layer.provide(store, remote),
  Layer.sync(Cached, () => new MapCache())
)

const program = Effect.gen(function* () {
  const { branch, collection, root } = yield* Store
  yield* collection("notes").insert({ text: "hello" }, { id: "a" })
  const { text } = yield* Effect.flatten(collection("notes").get("a"))
  yield* Console.log(`found in ${root} on branch ${branch}: ${text}`)
  const { entries } = yield* Cached
  yield* Console.log(`${entries.size} entry in the cache`)
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
