import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as fc from "fast-check"
import { Oid } from "../../../src/domain/identifiers/Oid.js"
import { plainIndex } from "../../../src/domain/indexes/IndexDefinition.js"
import type { DocumentChange } from "../../../src/domain/indexes/IndexFile.js"
import type { LosslessObject } from "../../../src/domain/json/LosslessJson.js"
import {
  derivedTree,
  openTreeAt,
  type RowMapping,
  rowsOfIndex,
  rowsOfManifest
} from "../../../src/store/internal/derived/DerivedTree.js"
import { treeReader } from "../../../src/store/internal/derived/SnapshotReader.js"
import { run } from "../../../src/store/internal/ordered-tree/ReadSteps.js"
import { makeTreeCache } from "../../../src/store/internal/ordered-tree/TreeCache.js"
import { makeSnapshot, type Snapshot } from "../../../src/store/internal/snapshot/Snapshot.js"
import { type Change, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import { remotes } from "../core/Remotes.js"

const path = "data/_index/people/city"
const tree = Oid.make("1".repeat(40))

const fileAt = (remote: GitRemoteService, snapshot: Snapshot, rows: RowMapping, path: string) => {
  const reader = treeReader({ remote, options: { concurrency: 4 } }, snapshot)
  return Effect.map(openTreeAt(reader, makeTreeCache(), { path, rows }), (state) => ({
    reader,
    ...derivedTree(reader, "people", { path, rows }, state)
  }))
}

/** None where the tree is missing or damaged. */
const changedBy = (
  { update, reader }: Effect.Effect.Success<ReturnType<typeof fileAt>>,
  documents: ReadonlyArray<DocumentChange>
) => Effect.flatten(run(reader, () => update(documents, tree)))

/** What the tree of some documents is, which come in chunks. */
const rebuilt = (
  { rebuild }: Effect.Effect.Success<ReturnType<typeof fileAt>>,
  documents: ReadonlyArray<DocumentChange>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { add, end } = yield* rebuild(tree, undefined)
      for (const { document, id } of documents) if (document !== undefined) yield* add([{ id, document }])
      return yield* (yield* end).made
    })
  )

/** The next version of a tree in a commit of its own. */
const write = (
  remote: GitRemoteService,
  rows: RowMapping,
  documents: ReadonlyArray<DocumentChange>,
  how: "changed" | "anew",
  path: string
) =>
  Effect.gen(function* () {
    const { committed, result } = yield* remote.commitNext("main", (source) =>
      Effect.gen(function* () {
        const file = yield* fileAt(remote, makeSnapshot(source), rows, path)
        const update = how === "anew" ? Option.none() : yield* changedBy(file, documents)
        const made = Option.isNone(update) ? yield* rebuilt(file, documents) : update.value
        const commit = { message: "m", changes: made.changes }
        return {
          commit: made.changes.length === 0 ? Option.none() : Option.some(commit),
          result: made.changes
        }
      })
    )
    return { committed, changes: result }
  })

const treeOf = (remote: GitRemoteService, path: string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    return Option.getOrThrow(yield* remote.tree(head, path)).oid
  })

const city = fc.oneof(
  fc.constantFrom("Rome", "Bern", "Oslo", null, 1, ["Rome", "Bern"]),
  fc.integer({ min: 0, max: 40 }).map((n) => `${"long ".repeat(40)}${n}`)
)
const step = fc.array(
  fc.record({
    id: fc.integer({ min: 0, max: 60 }).map((n) => `d${n}`),
    document: fc.option(
      fc.oneof(fc.record({ city, note: fc.string() }), fc.record({ note: fc.constant("x".repeat(3000)) })),
      { nil: undefined, freq: 4 }
    )
  }),
  { minLength: 1, maxLength: 30 }
)

describe.each(remotes)("an index or a manifest as a tree, on %s", (name, layer) => {
  const runs = name === "Memory" ? 25 : 6
  for (const [what, rows] of [
    ["an index", rowsOfIndex(plainIndex("city"))],
    ["a manifest", rowsOfManifest(["city", "note"])]
  ] as const) {
    it(
      `${what} that was update step by step is the one that is made rebuild`,
      () =>
        fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) =>
            Effect.runPromise(
              Effect.gen(function* () {
                const remote = yield* GitRemote
                const documents = new Map<string, LosslessObject>()
                // The first file of the branch is nobody's.
                const seed: Change = { _tag: "Put", path: "seed", content: new Uint8Array() }
                yield* remote.commit("main", Option.none(), { message: "seed", changes: [seed] })
                for (const changes of steps) {
                  const batch = new Map(changes.map((change) => [change.id, change.document]))
                  const update: Array<DocumentChange> = []
                  for (const [id, document] of batch) {
                    const before = documents.get(id)
                    if (before === undefined && document === undefined) continue
                    update.push({ id, document, before: before && (() => before) })
                    if (document === undefined) documents.delete(id)
                    else documents.set(id, document)
                  }
                  yield* write(remote, rows, update, "changed", path)
                }
                const all = [...documents].map(([id, document]) => ({ id, document }))
                yield* write(remote, rows, all, "anew", "data/anew")
                assert.strictEqual(yield* treeOf(remote, path), yield* treeOf(remote, "data/anew"))
                // What is there is not written again.
                const { changes } = yield* write(remote, rows, all, "anew", path)
                assert.deepStrictEqual(changes, [])
              }).pipe(Effect.provide(Layer.fresh(layer)), Effect.scoped)
            )
          ),
          { numRuns: runs, seed: 19 }
        ),
      60_000
    )
  }

  it.live("a tree that somebody has changed is damaged, and is made anew", () =>
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const rows = rowsOfIndex(plainIndex("city"))
      const documents = Array.from({ length: 300 }, (_, n) => ({
        id: `d${n}`,
        document: { city: `c${n % 7}` }
      }))
      yield* write(remote, rows, documents, "anew", path)
      const whole = yield* treeOf(remote, path)
      const head = Option.getOrThrow(yield* remote.head("main"))
      const files = Option.getOrThrow(yield* remote.tree(head, path, { recursive: true })).entries
      const leaf = files.find((entry) => entry.path.startsWith("rows/"))!
      yield* remote.commit("main", Option.some(head), {
        message: "by hand",
        changes: [{ _tag: "Remove", path: `${path}/${leaf.path}` }]
      })
      const damaged = makeSnapshot(remote.snapshot("main"))
      const file = yield* fileAt(remote, damaged, rows, path)
      assert.isUndefined(file.recorded)
      assert.isTrue(Option.isNone(yield* changedBy(file, [{ id: "e", document: { city: "Rome" } }])))
      yield* write(remote, rows, documents, "anew", path)
      assert.strictEqual(yield* treeOf(remote, path), whole)
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )
})
