import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ConflictError, Unmerged } from "../../domain/errors/StoreError.js"
import type { Resolution } from "../../store/Branches.js"
import { define } from "../../store/CollectionDefinition.js"
import { nameOf } from "./StoreBranchLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { pushTo, textAt } from "./StoreForeignCommit.js"
import { law, promiseOf } from "./StoreLaw.js"

const branching = promiseOf("branches")

const Range = define(
  "ranges",
  Schema.Struct({ low: Schema.Number, high: Schema.Number, title: Schema.String }).pipe(
    Schema.filter(({ high, low }) => low <= high)
  )
)

/** A number that JavaScript would round. */
const digits = "12345678901234567891"

const exact = (t: string, more = "") => `{"_id":"exact","_rev":1,"big":${digits},"t":"${t}"${more}}\n`

/** The rules that a side of a merge has recorded; `kept` is changed by neither. */
const rulesHere = { changed: "set", droppedThere: "set", added: "counter", kept: "set" }
const rulesThere = { changed: "lines", droppedHere: "set", addedThere: "lines", kept: "set" }

/** One side for every conflict is that side's value, whatever the conflict is about. */
export const branchSides = law(
  "branchSides",
  branching(
    "a side decides every conflict, and a decision is checked as the merge is",
    "what-a-merge-does",
    "at each conflict that side's value; everything else is merged"
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, head, open, root, store } = given
      const collections = [Range]
      const rules = {
        changed: "counter",
        droppedHere: "counter",
        droppedThere: "counter",
        kept: "set"
      } as const
      const recorder = yield* open({ merge: { people: rules } })
      yield* recorder.collection("places").insert({}, { id: "first" })
      const push = pushTo(given)
      const put = (to: typeof store, low: number, high: number, title: string) =>
        to.batch({}, (batch) => batch.put("ranges", "x", { low, high, title }))
      yield* put(store, 1, 5, "base")
      const names = ["ours", "theirs"].map((name) => nameOf(root, name))
      const from = nameOf(root, "from")
      const settings = JSON.parse((yield* textAt(given, branch, "_chainstore.json"))!)
      const recording = (people: object) => `${JSON.stringify({ ...settings, merge: { people } })}\n`
      yield* push(branch, {
        "people/exact.json": exact("base"),
        "people/gone.json": '{"_id":"gone","_rev":1}\n',
        "people/lost.json": '{"_id":"lost","_rev":1}\n',
        "notes.txt": "base",
        "gone.txt": "base",
        "lost.txt": "base"
      })
      yield* store.createBranch(from)
      yield* put(store.onBranch(from), 4, 5, "theirs")
      yield* push(from, {
        "_chainstore.json": recording(rulesThere),
        "people/exact.json": exact("theirs", ',"there":1'),
        "people/gone.json": null,
        "people/lost.json": '{"_id":"lost","_rev":2,"of":"theirs"}\n',
        "people/broken.json": "{",
        "notes.txt": "theirs",
        "gone.txt": null,
        "lost.txt": "theirs"
      })
      yield* put(store, 1, 2, "ours")
      yield* push(branch, {
        "_chainstore.json": recording(rulesHere),
        "people/exact.json": exact("ours", ',"here":1'),
        "people/gone.json": '{"_id":"gone","_rev":2,"of":"ours"}\n',
        "people/lost.json": null,
        "notes.txt": "ours",
        "gone.txt": "ours",
        "lost.txt": null
      })
      for (const name of names) yield* store.createBranch(name)
      for (const told of ["ours", "theirs"] as const) {
        const into = nameOf(root, told)
        yield* store.merge(from, { collections, into, onConflict: told })
        const isOurs = told === "ours"
        const merged = store.onBranch(into)
        const files: Record<string, string | null> = {}
        for (const path of ["notes.txt", "gone.txt", "lost.txt", "people/broken.json"])
          files[path] = yield* textAt(given, into, path)
        yield* expectEqual(`files: ${told}`, files, {
          "notes.txt": isOurs ? "ours" : "theirs",
          "gone.txt": isOurs ? "ours" : null,
          "lost.txt": isOurs ? null : "theirs",
          "people/broken.json": "{"
        })
        const { merge } = JSON.parse((yield* textAt(given, into, "_chainstore.json"))!)
        const both = { added: "counter", addedThere: "lines", kept: "set" }
        yield* expectEqual(
          `settings: ${told}`,
          merge.people,
          isOurs
            ? { ...both, changed: "set", droppedThere: "set" }
            : { ...both, changed: "lines", droppedHere: "set" }
        )
        const documents = merged.collection("people")
        const lives = yield* Effect.forEach(["gone", "lost"], (id) =>
          Effect.map(read(documents, id), (one) => one?.["of"] ?? null)
        )
        yield* expectEqual(`deleted documents: ${told}`, lives, isOurs ? ["ours", null] : [null, "theirs"])
        const text = (yield* textAt(given, into, "people/exact.json")) ?? ""
        yield* expectEqual(`the digits of a number: ${told}`, /"big": ?(\d+)/.exec(text)?.[1], digits)
        const { big: _, ...rest } = JSON.parse(text)
        yield* expectEqual(`the fields of a document: ${told}`, rest, {
          _id: "exact",
          _rev: 2,
          here: 1,
          t: isOurs ? "ours" : "theirs",
          there: 1
        })
        // Each field of its own would be a range that ends before it begins: so it is the document of one side.
        yield* expectEqual(
          `a document whose merge breaks its schema: ${told}`,
          shape(yield* read(merged.collection("ranges"), "x")),
          wanted(3, isOurs ? { low: 1, high: 2, title: "ours" } : { low: 4, high: 5, title: "theirs" })
        )
      }
      const before = yield* head
      const decide = (resolutions: Readonly<Record<string, (conflict: Unmerged) => Resolution>>) =>
        store.merge(from, {
          collections,
          onConflict: (conflict) => {
            const resolve =
              conflict.id === undefined ? undefined : resolutions[`${conflict.id} ${conflict.kind}`]
            return resolve === undefined ? "ours" : resolve(conflict)
          }
        })
      const broken: ConflictError = yield* expectFailure(
        "a decision that breaks the schema",
        decide({ "x changed": () => () => "theirs", "x invalid": () => undefined }),
        "ConflictError"
      )
      yield* expectEqual(
        "what is left of it",
        (broken.unmerged ?? []).map((one) => [
          one.id,
          one.kind,
          one.kind === "invalid" && one.document?.["title"]
        ]),
        [["x", "invalid", "theirs"]]
      )
      const reversed = { low: 3, high: 1, title: "given" }
      const invalid: ConflictError = yield* expectFailure(
        "a document that breaks the schema",
        decide({ "x changed": () => reversed, "x invalid": () => reversed }),
        "ConflictError"
      )
      yield* expectEqual(
        "its kind",
        (invalid.unmerged ?? []).map(({ kind }) => kind),
        ["invalid"]
      )
      yield* expectFailure(
        "a document that changes the digits of a number",
        decide({
          "exact changed": (one) => ({ ...(one.kind === "changed" ? one.ours : undefined), t: "given" })
        }),
        "ValidationError"
      )
      yield* expectEqual("nothing was written", yield* head, before)
    }),
  { shardDepth: 0 }
)

/** A merge that cannot be made is refused before anything is written. */
export const branchRefusals = law(
  "branchRefusals",
  branching(
    "merges that cannot be made are refused",
    "guarantees",
    "A branch of another history is refused (`ValidationError`), and so are settings of a newer format."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, head, open, remote, root, store } = given
      const push = pushTo(given)
      const people = store.collection("people")
      yield* people.insert({ mail: "a" }, { id: "x" })
      const name = nameOf(root, "refused")
      yield* store.createBranch(name)
      const theirs = store.onBranch(name).collection("people")
      yield* theirs.insert({ mail: "b" }, { id: "y" })
      yield* people.insert({ mail: "b" }, { id: "z" })
      const before = yield* head
      const unique = yield* expectFailure("one unique value on both", store.merge(name), "ConflictError")
      yield* expectEqual("its reason", unique.reason, "UniqueViolation")
      yield* expectFailure(
        "inside a transaction",
        store.withTransaction(store.merge(name)),
        "ValidationError"
      )
      yield* expectFailure("a missing branch", store.merge(nameOf(root, "none")), "NotFoundError")
      const into = nameOf(root, "nowhere")
      yield* expectFailure("a missing target", store.merge(name, { into }), "NotFoundError")
      const stranger = nameOf(root, "stranger")
      yield* remote.commit(stranger, Option.none(), {
        message: "another history",
        changes: [{ _tag: "Put", path: `${root}/strange.txt`, content: new Uint8Array([65]) }]
      })
      yield* expectFailure("another history", store.merge(stranger), "ValidationError")
      const settings = JSON.parse((yield* textAt(given, branch, "_chainstore.json"))!)
      const newer = nameOf(root, "newer")
      yield* store.createBranch(newer)
      yield* push(newer, { "_chainstore.json": JSON.stringify({ ...settings, format: 99 }) })
      yield* expectFailure("settings of a newer format", store.merge(newer), "ValidationError")
      const sharded = nameOf(root, "sharded")
      yield* store.createBranch(sharded)
      yield* push(sharded, { "_chainstore.json": JSON.stringify({ ...settings, shardDepth: 2 }) })
      const other = yield* open({ branch: sharded, shardDepth: 2 })
      yield* other.collection("places").insert({})
      yield* expectFailure(
        "other shard settings",
        store.merge(sharded, { fastForward: false }),
        "ValidationError"
      )
      yield* expectEqual("nothing was written", yield* head, before)
    }),
  { shardDepth: 1, shardWidth: 2, shardBy: "hash", indexes: { people: [{ fields: ["mail"], unique: true }] } }
)
