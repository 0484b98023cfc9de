import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Logger, LogLevel, Option, Random, Stream } from "effect"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as Store from "../../src/store/Store.js"
import * as HttpBackend from "../support/git/HttpBackend.js"
import { injectFaults, redirectTarget } from "../support/git/WireFaults.js"
import { drawing, exposedClient } from "../support/wirePrograms.js"

const clients = 4
const fibres = 16
const documents = 40
/** `CHAINSTORE_SOAK_RUNS` multiplies the operations. */
const operations = 10_000 * Number(process.env["CHAINSTORE_SOAK_RUNS"] ?? 1)

const tagOf = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isSuccess(exit)
    ? "done"
    : Option.match(Cause.failureOption(exit.cause), {
        onNone: () => `defect ${Cause.pretty(exit.cause)}`,
        onSome: (error) => (error as { readonly _tag: string })._tag
      })

it.scopedLive(
  `${operations} operations with a fault in each tenth request: nothing lost, nothing doubled`,
  () =>
    Effect.gen(function* () {
      const backend = yield* HttpBackend.make
      const { reached, url: redirectTo } = yield* redirectTarget
      const url = backend.create("counts.git", "receive.fsckObjects=true")
      const plain = yield* GitHost.scoped({ url })
      const settings = { indexes: { counts: ["by"] }, conflictRetries: 50, deadline: "10 minutes" } as const
      const looking = yield* Effect.provideService(Store.make(settings), GitRemote, plain)
      yield* looking.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: documents }), (_, id) =>
          batch.put("counts", `d${id}`, { by: "nobody" })
        )
      )
      backend.intercept = injectFaults(backend, drawing(1, 0.1), redirectTo)
      const outcomes = new Map<string, string>()
      const client = (name: number) =>
        Effect.gen(function* () {
          const store = yield* Effect.provideService(
            Store.make(settings),
            GitRemote,
            yield* exposedClient(url)
          )
          const counts = store.collection("counts")
          const write = (token: string) =>
            Effect.gen(function* () {
              const id = `d${yield* Random.nextIntBetween(0, documents)}`
              const exit = yield* Effect.exit(counts.update(id, { by: token }, { message: token }))
              outcomes.set(token, tagOf(exit))
            })
          yield* Effect.forEach(
            Array.from({ length: operations / clients }, (_, n) => `token-${name}-${n}`),
            write,
            { concurrency: fibres, discard: true }
          )
        })
      yield* Effect.forEach(Array.from({ length: clients }), (_, name) => client(name), {
        concurrency: "unbounded"
      })
      const written = new Map<string, number>()
      for (const line of backend.git("counts.git", "log", "--format=%s", "main").split("\n")) {
        if (line.startsWith("token-")) written.set(line, (written.get(line) ?? 0) + 1)
      }
      const tally = new Map<string, number>()
      for (const [token, outcome] of outcomes) {
        tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
        const times = written.get(token) ?? 0
        if (outcome === "done") assert.strictEqual(times, 1, `${token} was acknowledged`)
        else if (outcome === "AmbiguousWriteError") assert.isAtMost(times, 1, token)
        else assert.strictEqual(times, 0, `${token} ended in ${outcome}`)
      }
      console.log(Object.fromEntries(tally), `${backend.requests.length} requests`)
      assert.strictEqual(outcomes.size, operations)
      const all = yield* Stream.runCollect(looking.collection("counts").all())
      const sum = [...all].reduce((total, { _rev }) => total + _rev - 1, 0)
      assert.strictEqual(
        sum,
        [...written.values()].reduce((total, times) => total + times, 0)
      )
      assert.strictEqual(backend.git("counts.git", "fsck", "--strict", "--no-dangling"), "")
      assert.deepStrictEqual(reached, [])
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None))
)
