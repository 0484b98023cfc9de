/**
 * A store in a repository of a Git server, over Git's own protocol: here of a Chainstore host, elsewhere GitLab, Forgejo, or any
 * other server. Every write is a commit, and the commits of concurrent callers share pushes.
 *
 * Output:
 * 20 documents, in fewer than 10 pushes: true
 * a second client: tea costs 4
 * git clone: 20 commits
 */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Server } from "chainstore/http"
import { Service, Settings } from "chainstore/layers"
import { GitHost } from "chainstore/local"
import { Store } from "chainstore/store"
import { ConfigProvider, Console, Effect, Layer, Logger, Metric, MetricState, Option, Redacted } from "effect"

const token = "a-token-of-the-example"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "git-host-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Does not block this process, which is the server. */
const git = (...args: ReadonlyArray<string>) => promisify(execFile)("git", args)

/** The server, as `npm run host` starts it. It ends with its scope. */
const server = Layer.unwrapScoped(
  Effect.gen(function* () {
    const env = { PORT: "0", CHAINSTORE_DATA: yield* directory, CHAINSTORE_HOST_TOKEN: token }
    const provider = ConfigProvider.fromMap(new Map(Object.entries(env)))
    return Service.layerHost(yield* Effect.withConfigProvider(Settings.settings, provider))
  })
)

/** A client of a repository, which the first push creates. */
const client = (url: string) =>
  Layer.provide(Store.layer(), GitHost.layer({ url, username: "x", token: Redacted.make(token) }))

/** The number of requests to `git-receive-pack`: one asks for its capabilities, the others are pushes. */
const pushes = Effect.map(Metric.snapshot, (pairs) =>
  pairs.reduce((sum, { metricKey, metricState }) => {
    const isPush =
      metricKey.name === "chainstore_remote_requests_total" &&
      metricKey.tags.some(({ value }) => value === "git-receive-pack")
    return isPush && MetricState.isCounterState(metricState) ? sum + Number(metricState.count) : sum
  }, 0)
)

const fill = Effect.gen(function* () {
  const prices = (yield* Store).collection("prices")
  yield* prices.insert({ price: 4 }, { id: "tea" })
  // Each is acknowledged when the server has confirmed its commit.
  const others = Effect.forEach([...Array(19).keys()], (price) => prices.insert({ price }), {
    concurrency: "unbounded"
  })
  yield* others
  yield* Console.log(`${yield* prices.count} documents, in fewer than 10 pushes: ${(yield* pushes) < 10}`)
})

const look = Effect.gen(function* () {
  const prices = (yield* Store).collection("prices")
  const tea = Option.getOrThrow(yield* prices.get("tea"))
  yield* Console.log(`a second client: tea costs ${tea["price"]}`)
})

const program = Effect.gen(function* () {
  const { url } = yield* Server.Server
  const repository = `${url}/local/shop.git`
  yield* Effect.provide(fill, client(repository))
  yield* Effect.provide(look, client(repository))

  const clone = join(yield* directory, "clone")
  const address = repository.replace("//", `//x:${token}@`)
  yield* Effect.promise(() => git("clone", "--quiet", address, clone))
  const { stdout } = yield* Effect.promise(() => git("-C", clone, "rev-list", "--count", "HEAD"))
  yield* Console.log(`git clone: ${stdout.trim()} commits`)
})

const quiet = Logger.remove(Logger.defaultLogger)

await Effect.runPromise(Effect.scoped(Effect.provide(program, Layer.provideMerge(server, quiet))))
