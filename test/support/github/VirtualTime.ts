// What the client and the store load when they use it: loading takes real time, for which a virtual clock does not wait.
import "../../../src/store/internal/write/Batches.js"
import "../../../src/git/MergeBases.js"
import "../../../src/store/internal/merge/BranchOperations.js"
import "../../../src/store/internal/commit/Commit.js"
import "../../../src/store/internal/derived/DerivedTrees.js"
import "../../../src/store/internal/query/BatchedGet.js"
import "../../../src/store/internal/Estimate.js"
import "../../../src/store/internal/merge/MergeBranches.js"
import "../../../src/store/internal/Import.js"
import "../../../src/store/internal/write/MergeWrites.js"
import "../../../src/store/internal/proposal/Proposals.js"
import "../../../src/store/internal/query/Queries.js"
import "../../../src/store/internal/query/IndexTreeQuery.js"
import "../../../src/store/internal/query/IndexTreeRows.js"
import "../../../src/store/internal/Reindex.js"
import "../../../src/store/internal/write/Restore.js"
import "../../../src/store/internal/write/Revert.js"
import "../../../src/store/internal/query/Scans.js"
import "../../../src/store/internal/JsonSchemas.js"
import "../../../src/store/internal/WriteJsonSchema.js"
import "../../../src/store/internal/transaction/Transactions.js"
import "../../../src/store/internal/UniqueImportCheck.js"
import "../../../src/store/internal/write/Writers.js"
import "../../../src/store/remote/github/refs/RefTransaction.js"
import "../../../src/store/remote/github/heads/GraphqlPrefetch.js"
import "../../../src/store/remote/github/objects/GraphqlBlobReads.js"
import "../../../src/store/remote/github/commits/GraphqlCommit.js"
import "../../../src/store/remote/github/reads/History.js"
import "../../../src/store/remote/github/reads/MergeBases.js"
import "../../../src/store/remote/github/pulls/PullRequests.js"
import "../../../src/store/remote/github/commits/WriteOperations.js"
import "../../../src/store/internal/commit/BuildCommit.js"
import "../../../src/store/internal/commit/SettingsCheck.js"
import { Clock, Effect, Fiber, TestClock } from "effect"
import type { GitHubOptions } from "../../../src/store/remote/github/GitHub.js"
import { makeServer } from "./InProcess.js"
import { remoteOf } from "./Remote.js"

/** How many requests of a client are on their way, bodies included. */
export interface InFlight {
  count: number
  /** The time of the test's clock, in milliseconds. */
  now: number
}

export const countingFetch =
  (flight: InFlight, send = globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    flight.count++
    try {
      const response = await send(input, init)
      const bytes = await response.arrayBuffer()
      const body = [204, 304].includes(response.status) ? null : bytes
      return new Response(body, { status: response.status, headers: response.headers })
    } finally {
      flight.count--
    }
  }

const tick = (millis: number) => Effect.promise(() => new Promise((done) => setTimeout(done, millis)))

/** An empty repository, and a client of it whose waiting is on the test's clock. */
export const virtual = (options: Partial<GitHubOptions> = {}) =>
  Effect.gen(function* () {
    const server = yield* makeServer()
    const flight: InFlight = { count: 0, now: 0 }
    const connect = (more: Partial<GitHubOptions> = {}) =>
      remoteOf(server, { ...options, ...more }, countingFetch(flight, server.fetch))
    return { server, flight, connect, remote: yield* connect() }
  })

/**
 * Runs an effect to its end, moving the test's clock to the next sleeper whenever no request is on its way; with
 * `stuck`, also when one has been on its way for a while. Answers the virtual milliseconds that it took.
 */
export const settle = <A, E, R>(
  flight: InFlight,
  effect: Effect.Effect<A, E, R>,
  options: { readonly stuck?: boolean } = {}
) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.fork(Effect.either(effect))
    let quiet = 0
    let waiting = 0
    while (fiber.unsafePoll() === null) {
      yield* tick(1)
      quiet = flight.count === 0 ? quiet + 1 : 0
      waiting = flight.count === 0 ? 0 : waiting + 1
      if (quiet >= 3 || (options.stuck === true && waiting >= 30)) {
        quiet = 0
        waiting = 0
        const sleeps = yield* TestClock.sleeps()
        const now = yield* Clock.currentTimeMillis
        const next = [...sleeps].filter((at) => at > now).sort((a, b) => a - b)[0]
        if (next !== undefined) {
          flight.now = next
          yield* TestClock.setTime(next)
        }
      }
    }
    const result = yield* Fiber.join(fiber)
    return { result, took: (yield* Clock.currentTimeMillis) - start }
  })
