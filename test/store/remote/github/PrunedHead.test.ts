import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { clientOf, newRepository } from "../../../support/github/OnHost.js"
import { layer as host } from "../../../support/host/HostServer.js"

const begun = Effect.gen(function* () {
  const repository = yield* newRepository
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", args, { cwd: repository.directory, encoding: "utf8" }).trim()
  const open = Effect.flatMap(clientOf(repository), (remote) =>
    Effect.provideService(Store.make(), GitRemote, remote)
  )
  const ours = yield* open
  yield* ours.collection("notes").insert({ n: 1 }, { id: "a" })
  const base = git("rev-parse", "main")
  const both = (store: typeof ours, ...ids: ReadonlyArray<string>) =>
    store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("notes", id, { n: 1 })))
  yield* both(ours, "b", "c")
  // Somebody forces the branch back and prunes our last commit, and somebody else writes.
  git("update-ref", "refs/heads/main", base)
  git("reflog", "expire", "--expire=now", "--all")
  git("gc", "-q", "--prune=now")
  yield* (yield* open).collection("notes").insert({ n: 1 }, { id: "z" })
  return { ours, both }
})

describe.concurrent("a branch that was forced away from our last commit, which the host has pruned", () => {
  it.scopedLive(
    "is read where it is",
    () =>
      Effect.gen(function* () {
        const { ours } = yield* begun
        assert.deepStrictEqual(yield* ours.collection("notes").list(), ["a", "z"])
      }).pipe(Effect.provide(Layer.fresh(host()))),
    120_000
  )

  it.scopedLive(
    "is written on top of where it is",
    () =>
      Effect.gen(function* () {
        const { both, ours } = yield* begun
        const { commitSha } = yield* both(ours, "d", "e")
        assert.isTrue(Option.isSome(commitSha))
        assert.deepStrictEqual(yield* ours.collection("notes").list(), ["a", "d", "e", "z"])
      }).pipe(Effect.provide(Layer.fresh(host()))),
    120_000
  )
})
