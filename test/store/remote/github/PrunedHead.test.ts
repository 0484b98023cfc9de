import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Option } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../../src/store/Store.js"
import { clientOf, newRepository } from "../../../support/github/OnHost.js"
import { layer as host } from "../../../support/host/HostServer.js"

/** How many times faster than real time the client's clock goes. The tests wait for as long as replicas lag. */
const speed = 10

const fastClock = (): Clock.Clock => {
  const clock = Clock.make()
  const [millis, nanos] = [clock.unsafeCurrentTimeMillis(), clock.unsafeCurrentTimeNanos()]
  const unsafeCurrentTimeMillis = () => millis + (clock.unsafeCurrentTimeMillis() - millis) * speed
  const unsafeCurrentTimeNanos = () => nanos + (clock.unsafeCurrentTimeNanos() - nanos) * BigInt(speed)
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis,
    currentTimeMillis: Effect.sync(unsafeCurrentTimeMillis),
    unsafeCurrentTimeNanos,
    currentTimeNanos: Effect.sync(unsafeCurrentTimeNanos),
    sleep: (duration) => clock.sleep(Duration.times(duration, 1 / speed))
  }
}

const begun = (options: Partial<GitHubOptions> = {}, othersWrite = true, isForced = true) =>
  Effect.gen(function* () {
    const repository = yield* newRepository
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", args, { cwd: repository.directory, encoding: "utf8" }).trim()
    const open = Effect.flatMap(clientOf(repository, options), (remote) =>
      Effect.provideService(Store.make(), GitRemote, remote)
    )
    const ours = yield* open
    yield* ours.collection("notes").insert({ n: 1 }, { id: "a" })
    const base = git("rev-parse", "main")
    const both = (store: typeof ours, ...ids: ReadonlyArray<string>) =>
      store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("notes", id, { n: 1 })))
    yield* both(ours, "b", "c")
    // Somebody forces the branch back and prunes our last commit, and somebody else may write.
    const forceBack = () => {
      git("update-ref", "refs/heads/main", base)
      git("reflog", "expire", "--expire=now", "--all")
      git("gc", "-q", "--prune=now")
    }
    if (isForced) forceBack()
    if (othersWrite) yield* (yield* open).collection("notes").insert({ n: 1 }, { id: "z" })
    return { ours, both, git, forceBack, ...repository }
  })

describe.concurrent("a branch that was forced away from our last commit, which the host has pruned", () => {
  it.scopedLive(
    "is read where it is",
    () =>
      Effect.gen(function* () {
        const { ours } = yield* begun()
        assert.deepStrictEqual(yield* ours.collection("notes").list(), ["a", "z"])
      }).pipe(Effect.withClock(fastClock()), Effect.provide(Layer.fresh(host()))),
    120_000
  )

  it.scopedLive(
    "is written on top of where it is",
    () =>
      Effect.gen(function* () {
        const { both, ours } = yield* begun()
        const { commitSha } = yield* both(ours, "d", "e")
        assert.isTrue(Option.isSome(commitSha))
        assert.deepStrictEqual(yield* ours.collection("notes").list(), ["a", "d", "e", "z"])
      }).pipe(Effect.withClock(fastClock()), Effect.provide(Layer.fresh(host()))),
    120_000
  )

  it.scopedLive(
    "is written over GraphQL on top of where it is",
    () =>
      Effect.gen(function* () {
        const { both, ours } = yield* begun({ useGraphql: true, commitVia: "graphql" })
        const { commitSha } = yield* both(ours, "d", "e")
        assert.isTrue(Option.isSome(commitSha))
        assert.deepStrictEqual(yield* ours.collection("notes").list(), ["a", "d", "e", "z"])
      }).pipe(Effect.withClock(fastClock()), Effect.provide(Layer.fresh(host()))),
    120_000
  )

  for (const options of [{}, { useGraphql: true, commitVia: "graphql" }] as const) {
    it.scopedLive(
      `is read and written where it is the parent of that commit, with ${JSON.stringify(options)}`,
      () =>
        Effect.gen(function* () {
          const { both, ours } = yield* begun(options, false)
          yield* Effect.sleep("15 seconds")
          assert.deepStrictEqual(yield* ours.collection("notes").list(), ["a"])
          yield* both(ours, "d", "e")
          assert.deepStrictEqual(yield* ours.collection("notes").list(), ["a", "d", "e"])
        }).pipe(Effect.withClock(fastClock()), Effect.provide(Layer.fresh(host()))),
      120_000
    )
  }

  /** Only commits use GraphQL, so that the fault meets a commit. */
  const graphqlCommits = {
    commitVia: "graphql",
    backoffFactor: "60 seconds",
    maxWait: "2 minutes",
    deadline: "10 minutes"
  } as const
  const lostReply = (when: "before" | "after") => ({
    rules: [{ method: "POST", path: "graphql", times: 1, fault: { _tag: "Reset" as const, when } }]
  })

  for (const when of ["before", "after"] as const) {
    for (const othersWrite of [true, false]) {
      it.scopedLive(
        `is written once if the connection breaks ${when} the first GraphQL commit, with ${othersWrite ? "a commit" : "no commit"} of others`,
        () =>
          Effect.gen(function* () {
            const { both, git, ours, server } = yield* begun(graphqlCommits, othersWrite)
            yield* server.faults.set(lostReply(when))
            const { commitSha } = yield* both(ours, "d", "e")
            assert.strictEqual(Option.getOrThrow(commitSha), git("rev-parse", "main"))
            assert.strictEqual(git("rev-list", "--count", "main"), othersWrite ? "3" : "2")
            assert.deepStrictEqual(
              yield* ours.collection("notes").list(),
              othersWrite ? ["a", "d", "e", "z"] : ["a", "d", "e"]
            )
          }).pipe(Effect.withClock(fastClock()), Effect.provide(Layer.fresh(host()))),
        120_000
      )
    }
  }

  it.scopedLive(
    "is written again if a GraphQL commit whose reply was lost is pruned together with its parent",
    () =>
      Effect.gen(function* () {
        const { both, forceBack, git, ours, server } = yield* begun(graphqlCommits, false, false)
        const before = git("rev-parse", "main")
        yield* server.faults.set(lostReply("after"))
        const writing = yield* Effect.fork(both(ours, "d", "e"))
        while (git("rev-parse", "main") === before) yield* Effect.sleep("100 millis")
        const lost = git("rev-parse", "main")
        forceBack()
        const { commitSha } = yield* Fiber.join(writing)
        assert.strictEqual(Option.getOrThrow(commitSha), git("rev-parse", "main"))
        assert.notStrictEqual(git("rev-parse", "main"), lost)
        assert.strictEqual(git("rev-list", "--count", "main"), "2")
        assert.deepStrictEqual(yield* ours.collection("notes").list(), ["a", "d", "e"])
      }).pipe(Effect.withClock(fastClock()), Effect.provide(Layer.fresh(host()))),
    120_000
  )

  it.scopedLive(
    "is not written again if the GraphQL commit whose reply was lost is still on the branch",
    () =>
      Effect.gen(function* () {
        const { both, git, ours, server } = yield* begun(graphqlCommits, false, false)
        yield* server.faults.set(lostReply("after"))
        const { commitSha } = yield* both(ours, "d", "e")
        assert.strictEqual(Option.getOrThrow(commitSha), git("rev-parse", "main"))
        assert.strictEqual(git("rev-list", "--count", "main"), "3")
      }).pipe(Effect.withClock(fastClock()), Effect.provide(Layer.fresh(host()))),
    120_000
  )
})
