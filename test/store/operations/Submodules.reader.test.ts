import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Oid } from "../../../src/domain/Oid.js"
import type { Change } from "../../../src/store/remote/GitRemote.js"
import { type World, world } from "./Support.js"

const submodule = (path: string, digit: string): Change => ({
  _tag: "Link",
  path,
  oid: digit.repeat(40) as Oid,
  mode: "160000"
})

const commit = (it: World, branch: string, ...changes: ReadonlyArray<Change>) =>
  Effect.flatMap(it.remote.head(branch), (head) =>
    it.remote.commit(branch, head, { message: "by hand", changes })
  )

const files = (it: World) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* it.remote.head("main"))
    const { entries } = Option.getOrThrow(yield* it.remote.tree(head, "data/notes", { recursive: true }))
    return entries.map(({ mode, path }) => `${mode} ${path}`).sort()
  })

// The other way round, with the submodule on their side, is a conflict and writes nothing (Submodules.test.ts).
describe("a submodule of ours in the place of a document that theirs changed", () => {
  const begun = Effect.gen(function* () {
    const it = yield* world()
    yield* it.store.collection("notes").insert({ n: 1 }, { id: "x" })
    yield* it.store.collection("notes").insert({ n: 1 }, { id: "y" })
    yield* it.store.createBranch("draft")
    yield* it.store.onBranch("draft").collection("notes").update("x", { n: 2 })
    yield* commit(it, "main", submodule("data/notes/x.json", "5"))
    return it
  })
  for (const onConflict of ["ours", "theirs", () => null, () => ({ n: 7 })] as const) {
    it.live(`is not lost where ${String(onConflict)} is taken`, () =>
      Effect.gen(function* () {
        const it = yield* begun
        yield* Effect.either(it.store.merge("draft", { onConflict }))
        assert.include((yield* files(it)).join(), "160000 x.json")
      })
    )
  }
})
