import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ConflictError } from "../../domain/errors/StoreError.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { law, promiseOf } from "./StoreLaw.js"
import { betweenBuildAndCommit } from "./StoreRaceLaws.js"

const merging = promiseOf("merging")

/** Writes that are based on an older version keep what others have stored since, also while they race. */
export const mergingWrites = law(
  "mergingWrites",
  merging(
    "writes with a base keep the changes of others",
    "merging",
    "changes of different fields are both kept, and a change of one field by both is a conflict, which is returned as data."
  ),
  ({ open, people, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      const fields = { a: 1, b: 1, c: { d: 1, e: 1 }, list: [1] }
      yield* people.insert(fields, { id: "x" })
      const base = Option.getOrThrow(yield* people.version("x"))
      yield* people.update("x", { a: 2 })
      const theirs = (time: number) => people.update("x", { [`theirs${time}`]: time })
      const others = betweenBuildAndCommit(3, theirs)
      const racing = (yield* open({ conflictRetries: 0 }, others)).collection("people")
      yield* racing.update("x", { b: 2 }, { base })
      const raced = { theirs0: 0, theirs1: 1, theirs2: 2 }
      yield* expectEqual(
        "an update",
        shape(yield* read(people, "x")),
        wanted(6, { ...fields, ...raced, a: 2, b: 2 })
      )
      yield* people.replace("x", { ...fields, c: { d: 1, e: 2 } }, { base: base.sha })
      yield* people.replace("x", { ...fields, c: { d: 2, e: 1 }, list: [] }, { base: 1 })
      const merged = { ...fields, ...raced, a: 2, b: 2, c: { d: 2, e: 2 }, list: [] }
      yield* expectEqual("replacements", shape(yield* read(people, "x")), wanted(8, merged))
      const error: ConflictError = yield* expectFailure(
        "one field",
        people.update("x", { a: 3, c: 5, f: 1 }, { base }),
        "ConflictError"
      )
      yield* expectEqual(
        "every conflict",
        error.merge?.conflicts.map(({ path }) => path),
        [["a"], ["c"]]
      )
      yield* expectEqual("the merge", error.merge?.document, { ...merged, a: 3, c: 5, f: 1 })
      yield* expectEqual("nothing was written", shape(yield* read(people, "x")), wanted(8, merged))
      const actual = error.conflicts[0]?.actual?.sha ?? ""
      yield* people.replace("x", { ...merged, a: 3 }, { base: actual })
      yield* expectEqual("the decision", shape(yield* read(people, "x")), wanted(9, { ...merged, a: 3 }))
    })
)

/** Who writes with a base says what a difference is: a merge, a failure, or what a function makes of it. */
export const decidedWrites = law(
  "decidedWrites",
  merging(
    "onConflict decides what happens if the stored document is not the base",
    "conflicts",
    "`onConflict` determines what happens if the stored document differs from `base`"
  ),
  ({ people, push, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      const [base, ours, theirs] = [
        { a: 1, b: 1, gone: 1 },
        { a: 2, b: 1, own: 1, gone: 2 },
        { a: 1, b: 2 }
      ]
      yield* people.insert(base, { id: "x" })
      const version = Option.getOrThrow(yield* people.version("x"))
      const { own: _, ...patch } = ours
      yield* people.replace("x", theirs)
      const stored = wanted(2, theirs)
      const clean = { a: 2, b: 2, own: 1 }
      const refused = { base: version, onConflict: "fail" } as const
      for (const [what, write, document] of [
        ["update", people.update("x", { a: 2, own: 1 }, refused), clean],
        ["replace", people.replace("x", { ...base, a: 2, own: 1 }, refused), clean]
      ] as const) {
        const error: ConflictError = yield* expectFailure(`fail: ${what}`, write, "ConflictError")
        const { merge } = error
        yield* expectEqual("its base and theirs", [merge?.base, merge?.theirs], [base, theirs])
        yield* expectEqual("its ours", merge?.ours, { ...base, a: 2, own: 1 })
        yield* expectEqual("a merge that would be clean", [merge?.document, merge?.conflicts], [document, []])
        yield* expectEqual("the stored version", error.conflicts[0]?.actual?.rev, 2)
      }
      yield* expectEqual("nothing was written", shape(yield* read(people, "x")), stored)
      yield* people.update("x", { own: 0 }, { base: 2, onConflict: "fail" })
      yield* expectEqual(
        "fail, on the base",
        shape(yield* read(people, "x")),
        wanted(3, { ...theirs, own: 0 })
      )
      const left: ConflictError = yield* expectFailure(
        "a conflict",
        people.replace("x", ours, { base: version }),
        "ConflictError"
      )
      yield* expectEqual("its conflicts", left.merge?.conflicts, [
        { path: ["gone"], base: 1, ours: 2 },
        { path: ["own"], ours: 1, theirs: 0 }
      ])
      const told: Array<unknown> = []
      const undecided = people.update("x", patch, {
        base: version,
        onConflict: (merge) => {
          told.push(merge)
          return undefined
        }
      })
      const same: ConflictError = yield* expectFailure(
        "a function that gives none",
        undecided,
        "ConflictError"
      )
      yield* expectEqual("it is told the merge of the error", told, [same.merge])
      yield* people.replace("x", ours, {
        base: version,
        onConflict: ({ document }) =>
          Effect.as(Effect.orDie(people.update("x", { later: 1 })), { ...document, own: "decided" })
      })
      const decided = { a: 2, b: 2, gone: 2, own: "decided", later: 1 }
      yield* expectEqual("a decision", shape(yield* read(people, "x")), wanted(5, decided))
      const onward = Option.getOrThrow(yield* people.version("x"))
      yield* people.update("x", { a: 3 })
      const decisions: Array<unknown> = []
      yield* people.update(
        "x",
        { a: 4, b: 4 },
        {
          base: onward,
          onConflict: ({ conflicts, document }) =>
            Effect.gen(function* () {
              decisions.push(conflicts.map(({ path }) => path.join(".")))
              if (decisions.length === 1) yield* Effect.orDie(people.update("x", { b: 5 }))
              return document
            })
        }
      )
      yield* expectEqual("it is called again for new conflicts", decisions, [["a"], ["b"]])
      yield* expectEqual(
        "the decisions",
        shape(yield* read(people, "x")),
        wanted(8, { ...decided, a: 4, b: 4 })
      )
      const current = Option.getOrThrow(yield* people.version("x"))
      yield* people.delete("x")
      let asked = 0
      for (const onConflict of ["merge", "fail", () => void asked++] as const) {
        for (const write of [
          people.update("x", { a: 3 }, { base: current, onConflict }),
          people.replace("x", { a: 3 }, { base: current, onConflict })
        ]) {
          const error: ConflictError = yield* expectFailure("a deleted document", write, "ConflictError")
          const merge = error.merge ?? {}
          yield* expectEqual("its merge has no theirs", ["base" in merge, "theirs" in merge], [true, false])
        }
      }
      yield* expectEqual("a function is not asked about a deletion", asked, 0)
      yield* expectEqual("it stays deleted", yield* read(people, "x"), null)
      yield* people.insert({ n: 1 }, { id: "y" })
      const first = Option.getOrThrow(yield* people.version("y"))
      yield* push({ "people/y.json": '{"_id":"y","_rev":1,"n":7}\n' })
      const ambiguous = people.update("y", { n: 8 }, { base: 1 })
      const twice = yield* expectFailure("a revision that two versions have", ambiguous, "ValidationError")
      yield* expectEqual("its hint", `${twice.hint}`.includes("version(id)"), true)
      yield* people.update("y", { m: 1 }, { base: first })
      yield* expectEqual(
        "a version is one of them",
        shape(yield* read(people, "y")),
        wanted(2, { n: 7, m: 1 })
      )
      yield* expectFailure("still", people.replace("y", { n: 8 }, { base: 1 }), "ValidationError")
      const none = people.update("y", { n: 8 }, { base: 9 })
      const unknown = yield* expectFailure("no such revision", none, "NotFoundError")
      yield* expectEqual("its hint", `${unknown.hint}`.includes("version(id)"), true)
      const oid = "0123456789012345678901234567890123456789"
      yield* expectFailure("no such version", people.update("y", { n: 8 }, { base: oid }), "NotFoundError")
    }),
  { shardDepth: 0 }
)

/** Edits lose nothing, whatever they race with. */
export const edits = law(
  "edits",
  merging(
    "edits of one field are applied one after another",
    "conflicts",
    "if both changed one field, even to the same value, the function is applied again to the stored document"
  ),
  ({ open, people, expectEqual }) =>
    Effect.gen(function* () {
      yield* people.insert({ n: 0 }, { id: "x" })
      const others = (yield* open()).collection("people")
      const add = (to: typeof people, name: string) =>
        to.edit("x", (document) => ({ ...document, n: Number(document["n"]) + 1, [name]: 1 }))
      const racing = (yield* open(
        {},
        // Odd, because a store that takes equal changes for one would lose every second of them.
        betweenBuildAndCommit(3, (time) => add(others, `theirs${time}`))
      )).collection("people")
      yield* add(racing, "ours")
      yield* Effect.forEach(["p", "q", "r"], (name) => add(people, name), { concurrency: "unbounded" })
      const expected = { n: 7, theirs0: 1, theirs1: 1, theirs2: 1, ours: 1, p: 1, q: 1, r: 1 }
      yield* expectEqual("the document", shape(yield* read(people, "x")), wanted(8, expected))
      let runs = 0
      yield* people.edit(
        "x",
        (document) =>
          Effect.gen(function* () {
            if (runs++ === 0) yield* people.update("x", { n: 20 })
            return { ...document, n: Number(document["n"]) + 1 }
          }),
        { rules: { settle: () => "ours" } }
      )
      yield* expectEqual("rules settle nothing", [(yield* read(people, "x"))?.["n"], runs], [21, 2])
    })
)

const Priced = Schema.Struct({
  price: Schema.Number.pipe(Schema.lessThan(10)),
  note: Schema.optional(Schema.String)
})

/** Rules about documents are rules about merged documents. */
export const mergedRules = law(
  "mergedRules",
  merging(
    "what holds for documents holds for merged ones",
    "merging",
    "`_rev` rises by one, and the schema and unique indexes hold for the merged document."
  ),
  ({ expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const people = store.collection("people", Priced)
      yield* people.insert({ price: 5 }, { id: "x" })
      const base = Option.getOrThrow(yield* people.version("x"))
      yield* people.update("x", { price: 8 })
      const rules = { fields: { price: "counter" } } as const
      yield* people.update("x", { price: 6 }, { base, rules })
      yield* expectEqual("a counter", Option.getOrThrow(yield* people.get("x")).price, 9)
      yield* expectFailure("too much", people.update("x", { price: 6 }, { base, rules }), "ValidationError")
      const { _rev, price } = Option.getOrThrow(yield* people.get("x"))
      yield* expectEqual("nothing was written", { _rev, price }, { _rev: 3, price: 9 })
      yield* people.insert({ price: 1, note: "taken" }, { id: "y" })
      const taken = people.update("x", { note: "taken" }, { base })
      const error = yield* expectFailure("a unique value", taken, "ConflictError")
      yield* expectEqual("its reason", error.reason, "UniqueViolation")
      yield* expectEqual("nothing was written", Option.getOrThrow(yield* people.get("x"))._rev, 3)
    }),
  { indexes: { people: [{ fields: ["note"], unique: true }] } }
)
