import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ConflictError, Unmerged } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import type { CompareOptions, Resolution } from "../../store/Branches.js"
import { define } from "../../store/CollectionDefinition.js"
import { nameOf } from "./StoreBranchLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { type LawContext, law, promiseOf } from "./StoreLaw.js"

const branching = promiseOf("branches")

/** Branches are listed, begin where they are told to, and are compared by their documents. */
export const branchComparisons = law(
  "branchComparisons",
  branching(
    "branches begin where they are told to, and are compared by their documents",
    "branches-and-merges",
    '`compare(a, b)` shows what `b` has changed since it left `a`; with `{ against: "first" }` it compares the two as they are.'
  ),
  ({ branch, expectEqual, expectFailure, head, people, root, store }) =>
    Effect.gen(function* () {
      const [animals, zoos] = [store.collection("animals"), store.collection("zoos")]
      yield* store.batch({}, (batch) =>
        Effect.all([batch.put("animals", "z", { n: 1 }), batch.put("zoos", "b", { n: 1 })])
      )
      const first = yield* head
      yield* zoos.insert({}, { id: "m" })
      const now = yield* head
      const [old, name] = [nameOf(root, "old"), nameOf(root, "new")]
      yield* expectEqual("where a branch begins", yield* store.createBranch(old, { from: first! }), first)
      yield* expectEqual("where it begins by itself", yield* store.createBranch(name), now)
      const listed = (yield* store.branches).filter((one) => one.name === old || one.name === name)
      const sorted = [...listed].sort((a, b) => (a.name < b.name ? -1 : 1))
      yield* expectEqual("the branches", sorted, [
        { name, commitSha: now },
        { name: old, commitSha: first }
      ])
      yield* expectFailure("a branch that exists", store.createBranch(name), "ConflictError")
      yield* expectFailure("a branch below a branch", store.createBranch(`${name}/prices`), "ConflictError")
      const above = nameOf(root, "above")
      yield* store.createBranch(`${above}/prices`)
      yield* expectFailure("a branch above a branch", store.createBranch(above), "ConflictError")
      yield* store.deleteBranch(`${above}/prices`)
      yield* store.createBranch(above)
      yield* store.deleteBranch(above)
      const missing = store.createBranch(above, { from: nameOf(root, "none") })
      yield* expectFailure("a branch that begins nowhere", missing, "NotFoundError")
      yield* expectFailure("its own branch", store.deleteBranch(branch), "ValidationError")
      yield* store.deleteBranch(name)
      yield* store.deleteBranch(name)
      yield* store
        .onBranch(old)
        .batch({}, (batch) =>
          Effect.all([
            batch.put("zoos", "a", { n: 5 }),
            batch.put("zoos", "b", { n: 2 }),
            batch.put("animals", "y", { n: 3 }),
            batch.delete("animals", "z")
          ])
        )
      const shown = (a: string, b: string, options?: CompareOptions) =>
        Effect.flatMap(Stream.runCollect(store.compare(a, b, options)), (found) =>
          Effect.forEach(Array.from(found), ({ after, before, collection, id, kind }) =>
            Effect.map(Effect.all([before, after]), (versions) => [
              `${collection}/${id} ${kind}`,
              ...versions.map((version) => shape(Option.getOrNull(version)))
            ])
          )
        )
      const changed = [
        ["animals/y added", null, wanted(1, { n: 3 })],
        ["animals/z removed", wanted(1, { n: 1 }), null],
        ["zoos/a added", null, wanted(1, { n: 5 })],
        ["zoos/b changed", wanted(1, { n: 1 }), wanted(2, { n: 2 })]
      ]
      yield* expectEqual("since it left", yield* shown(branch, old), changed)
      yield* expectEqual("as they are", yield* shown(branch, old, { against: "first" }), [
        ...changed,
        ["zoos/m removed", wanted(1, {}), null]
      ])
      yield* expectEqual("commits", yield* shown(first!, branch), [["zoos/m added", null, wanted(1, {})]])
      yield* expectEqual("what it has not changed", yield* shown(old, first!), [])
      yield* expectEqual("a missing document", Option.isNone(yield* animals.get("y")), true)
      yield* expectEqual("another collection", yield* people.list(), [])
    })
)

const Stock = define("people", Schema.Struct({ n: Schema.Number, m: Schema.Number.pipe(Schema.lessThan(2)) }))

/** The options of a merge do what they say. */
export const branchOptions = law(
  "branchOptions",
  branching(
    "the options of a merge do what they say",
    "what-a-merge-does",
    "`ours` is the target branch (`into`, or the store's own), `theirs` is the merged one, `base` is their newest common commit."
  ),
  ({ branch, commits, expectEqual, expectFailure, head, open, people, root, store }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 1, m: 1 }, { id: "x" })
      const name = nameOf(root, "draft")
      yield* store.createBranch(name)
      const theirs = store.onBranch(name).collection("people")
      yield* theirs.insert({ n: 1, m: 1 }, { id: "y" })
      const before = yield* head
      const dry = yield* store.merge(name, { dryRun: true })
      const added = [{ collection: "people", id: "y", kind: "added" }]
      yield* expectEqual("a dry run", [dry.kind, dry.documents], ["fastForward", added])
      yield* expectEqual("its commit", Option.getOrNull(dry.commitSha), null)
      yield* expectEqual("after it", yield* head, before)
      const merged = yield* store.merge(name, { fastForward: false })
      yield* expectEqual("fastForward: false", [merged.kind, merged.documents], ["merge", added])
      const tip = (yield* store.branches).find((one) => one.name === name)?.commitSha
      const [commit] = yield* commits
      yield* expectEqual("its parents", commit?.parents, [before, tip])
      yield* expectEqual("its commit", Option.getOrNull(merged.commitSha), yield* head)
      const forward = yield* store.merge(branch, { into: name })
      yield* expectEqual("a fast-forward", forward.kind, "fastForward")
      yield* expectEqual("where it leads", Option.getOrNull(forward.commitSha), yield* head)
      const again = yield* store.merge(name)
      yield* expectEqual("once more", [again.kind, again.documents], ["upToDate", []])
      yield* theirs.update("x", { n: 3, m: 2 })
      yield* people.update("x", { n: 2 })
      const rules = { people: { fields: { n: "counter" } } } as const
      const at = yield* head
      yield* expectFailure("without its rules", store.merge(name), "ConflictError")
      const dryMerge = { dryRun: true, rules, collections: [Stock] } as const
      const checked = yield* store.merge(name, dryMerge)
      const kinds = (found: ReadonlyArray<Unmerged>) => found.map(({ kind }) => kind)
      yield* expectEqual("collections of the merge", kinds(checked.conflicts), ["invalid"])
      const strict = yield* open({ collections: [Stock] })
      const error: ConflictError = yield* expectFailure(
        "collections of the store",
        strict.merge(name, { rules }),
        "ConflictError"
      )
      yield* expectEqual("its conflicts", kinds(error.unmerged ?? []), ["invalid"])
      yield* expectEqual("nothing was written", yield* head, at)
      yield* store.merge(name, { rules })
      yield* expectEqual("rules", shape(yield* read(people, "x")), wanted(3, { n: 4, m: 2 }))
      yield* expectEqual("ours is the target", shape(yield* read(theirs, "x")), wanted(2, { n: 3, m: 2 }))
      yield* theirs.update("x", { n: 9 })
      yield* people.update("x", { n: 8 })
      yield* store.merge(branch, { into: name, onConflict: "ours" })
      yield* expectEqual("ours of another target", (yield* read(theirs, "x"))?.["n"], 9)
    })
)

const Limited = define(
  "people",
  Schema.Struct({ a: Schema.Number, b: Schema.Number, m: Schema.Number.pipe(Schema.lessThan(2)) })
)

const start = { a: 1, b: 1, m: 1 }

/** A branch that changed what the store's branch changed too, in each way of the table. */
const conflicting = ({ branch, people, remote, root, store }: LawContext) =>
  Effect.gen(function* () {
    const name = nameOf(root, "draft")
    const other = store.onBranch(name)
    const theirs = other.collection("people")
    const commit = (on: string, files: Readonly<Record<string, string>>) =>
      Effect.flatMap(remote.head(on), (at) =>
        remote.commit(on, at, {
          message: "somebody else",
          changes: Object.entries(files).map(([path, text]) => ({
            _tag: "Put",
            path: `${root}/${path}`,
            content: new TextEncoder().encode(text)
          }))
        })
      )
    const write = (to: typeof store, documents: Readonly<Record<string, JsonObject | null>>) =>
      to.batch({}, (batch) =>
        Effect.forEach(Object.entries(documents), ([id, document]) =>
          document === null ? batch.delete("people", id) : batch.put("people", id, document)
        )
      )
    const ids = [
      "both",
      "changed",
      "deletedHere",
      "deletedThere",
      "gone",
      "invalid",
      "ours",
      "theirs",
      "unreadable"
    ]
    yield* write(store, Object.fromEntries(ids.map((id) => [id, start])))
    yield* store.createBranch(name)
    yield* write(other, { both: { ...start, b: 2 } })
    yield* write(other, {
      added: start,
      both: { ...start, b: 3 },
      changed: { a: 3, b: 3, m: 1 },
      deletedHere: { ...start, a: 3 },
      deletedThere: null,
      gone: null,
      invalid: { ...start, m: 2 },
      theirs: { ...start, a: 3 }
    })
    yield* theirs.createIndex({ name: "both", fields: ["b"] })
    yield* commit(name, { "people/unreadable.json": "{", "notes.txt": "theirs", "theirs.txt": "theirs" })
    yield* write(store, {
      both: { ...start, a: 2 },
      changed: { a: 2, b: 2, m: 1 },
      deletedHere: null,
      deletedThere: { ...start, a: 2 },
      gone: null,
      invalid: { ...start, a: 2 },
      ours: { ...start, a: 2 },
      unreadable: { ...start, a: 2 }
    })
    yield* people.createIndex({ name: "both", fields: ["a"] })
    yield* people.createIndex({ name: "own", fields: ["m"] })
    yield* commit(branch, { "notes.txt": "ours" })
    return { name, theirs, commit }
  })

/** What a conflict is about. */
const subjectOf = ({ id, kind, path }: Unmerged) => id ?? (kind === "file" ? path.split("/").at(-1) : kind)

const subjectsOf = (all: ReadonlyArray<Unmerged>) => all.map((one) => `${subjectOf(one)}: ${one.kind}`).sort()

/** Each way in which two branches change one thing is what the table says, and is decided as it is told. */
export const branchCases = law(
  "branchCases",
  branching(
    "each conflict has its kind, and is decided as the caller says",
    "what-a-merge-does",
    "A conflict fails the merge with a `ConflictError`. Its `unmerged` has every conflict"
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, file, head, people, root, store } = given
      const { commit, name, theirs } = yield* conflicting(given)
      const collections = [Limited]
      const at = yield* head
      const error: ConflictError = yield* expectFailure(
        "a merge",
        store.merge(name, { collections }),
        "ConflictError"
      )
      const all = [
        "changed: changed",
        "deletedHere: deleted",
        "deletedThere: deleted",
        "invalid: invalid",
        "notes.txt: file",
        "setting: setting",
        "unreadable: unreadable"
      ]
      const unmerged = error.unmerged ?? []
      yield* expectEqual("its conflicts", subjectsOf(unmerged), all)
      const versions: Record<string, ReadonlyArray<unknown>> = {}
      for (const one of unmerged) {
        versions[`${subjectOf(one)}`] =
          one.id === undefined
            ? [one.collection ?? null]
            : [one.base, one.ours, one.theirs].map((side) =>
                side === undefined ? null : [side["_rev"], side["a"]]
              )
      }
      yield* expectEqual("base, ours and theirs", versions, {
        changed: [
          [1, 1],
          [2, 2],
          [2, 3]
        ],
        deletedHere: [[1, 1], null, [2, 3]],
        deletedThere: [[1, 1], [2, 2], null],
        invalid: [
          [1, 1],
          [2, 2],
          [2, 1]
        ],
        "notes.txt": [null],
        setting: [null],
        unreadable: [[1, 1], [2, 2], null]
      })
      const changed = unmerged.find(({ id }) => id === "changed")
      yield* expectEqual(
        "the conflicts in a document",
        changed?.conflicts,
        ["a", "b"].map((path) => ({ path: [path], base: 1, ours: 2, theirs: 3 }))
      )
      const merged = changed?.kind === "changed" ? changed.document : undefined
      yield* expectEqual("the merged document", [merged?.["a"], merged?.["b"], merged?.["m"]], [2, 2, 1])
      const documents = Object.fromEntries(
        error.conflicts.map(({ actual, expected, id }) => [
          id,
          [actual, expected].map((side) => (side?.document as JsonObject | undefined)?.["a"] ?? null)
        ])
      )
      yield* expectEqual("actual is ours, expected is theirs", documents["changed"], [2, 3])
      yield* expectEqual("a deletion here", documents["deletedHere"], [null, 3])
      yield* expectEqual("a deletion there", documents["deletedThere"], [2, null])
      const asked: Array<string> = []
      const decisions: Readonly<Record<string, Resolution>> = {
        changed: ({ path }) => (path[0] === "a" ? "theirs" : { value: 7 }),
        deletedHere: { ...start, a: 5, _rev: 70, _id: "other" },
        deletedThere: null,
        invalid: { ...start, m: 0, _rev: 70, _created_at: "2000-01-01T00:00:00.000Z" },
        "notes.txt": "theirs",
        setting: "ours",
        unreadable: "ours"
      }
      const decide = (but?: string) => (conflict: Unmerged) => {
        const subject = `${subjectOf(conflict)}`
        asked.push(subject)
        return subject === but ? undefined : decisions[subject]
      }
      const once = all.map((one) => one.split(": ")[0]!)
      const dry = yield* store.merge(name, { collections, dryRun: true, onConflict: decide("changed") })
      yield* expectEqual("what would prevent it", subjectsOf(dry.conflicts), ["changed: changed"])
      yield* expectEqual("onConflict is called once for each", asked.splice(0).sort(), once)
      const left: ConflictError = yield* expectFailure(
        "a conflict that is left",
        store.merge(name, { collections, onConflict: decide("deletedHere") }),
        "ConflictError"
      )
      yield* expectEqual("what is left", subjectsOf(left.unmerged ?? []), ["deletedHere: deleted"])
      yield* expectEqual("nothing was written", yield* head, at)
      asked.splice(0)
      const sides = yield* Effect.all([people.get("both"), theirs.get("both")])
      const [ours, their] = sides.map(Option.getOrThrow)
      const [own, taken] = [yield* people.version("ours"), yield* theirs.version("theirs")]
      const done = yield* store.merge(name, {
        collections,
        onConflict: (conflict) => Effect.sync(() => decide()(conflict))
      })
      yield* expectEqual("what was decided", subjectsOf(done.conflicts), all)
      yield* expectEqual("onConflict is called once for each", asked.sort(), once)
      yield* expectEqual("each path", shape(yield* read(people, "changed")), wanted(3, { a: 3, b: 7, m: 1 }))
      const document = yield* read(people, "deletedHere")
      yield* expectEqual(
        "a document",
        [document?._id, document?.["a"], document?._rev],
        ["deletedHere", 5, 3]
      )
      yield* expectEqual("null", yield* read(people, "deletedThere"), null)
      const valid = yield* read(people, "invalid")
      yield* expectEqual("its metadata", shape(valid), wanted(3, { ...start, m: 0 }))
      yield* expectEqual("its creation", valid?._created_at, ours?._created_at)
      yield* expectEqual("ours", shape(yield* read(people, "unreadable")), wanted(2, { ...start, a: 2 }))
      yield* expectEqual("a file", yield* file("notes.txt"), "theirs")
      yield* expectEqual("a file of one side", yield* file("theirs.txt"), "theirs")
      const both = yield* read(people, "both")
      yield* expectEqual("what both changed", shape(both), wanted(4, { a: 2, b: 3, m: 1 }))
      const times = [ours?._updated_at ?? "", their?._updated_at ?? ""].sort()
      yield* expectEqual("its times", [both?._updated_at, both?._created_at], [times[1], ours?._created_at])
      const shas = [yield* people.version("ours"), yield* people.version("theirs")]
      yield* expectEqual(
        "the bytes of one side",
        shas.map((one) => Option.getOrNull(one)?.sha),
        [own, taken].map((one) => Option.getOrNull(one)?.sha)
      )
      yield* expectEqual("what both deleted", yield* read(people, "gone"), null)
      const indexes = (yield* store.indexes).map(
        (one) => `${one.name}: ${one.fields.map(({ field }) => field).join()}`
      )
      yield* expectEqual("the indexes", indexes.sort(), ["both: a", "own: m"])
      yield* commit(name, { "place/file.txt": "theirs" })
      yield* commit(branch, { place: "ours" })
      const blocked: ConflictError = yield* expectFailure(
        "a file where the other has a directory",
        store.merge(name, { collections, onConflict: "theirs" }),
        "ConflictError"
      )
      yield* expectEqual(
        "its kind",
        (blocked.unmerged ?? []).map(({ kind, path }) => [kind, path.startsWith(`${root}/place`)]),
        [["file", true]]
      )
    }),
  { shardDepth: 0, indexes: undefined }
)
