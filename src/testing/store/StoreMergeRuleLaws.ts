import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ConflictError } from "../../domain/errors/StoreError.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import {
  type MergeConflict,
  type MergeRule,
  MergeRuleId,
  type MergeRules,
  type Settlement
} from "../../domain/merge/index.js"
import { define } from "../../store/CollectionDefinition.js"
import { nameOf } from "./StoreBranchLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { law, promiseOf } from "./StoreLaw.js"

const merging = promiseOf("merging")

/** A value that both sides may change, undefined where it is missing, with what the merge has or where it conflicts. */
interface Case {
  readonly rule?: MergeRule
  readonly base?: Json
  readonly ours?: Json
  readonly theirs?: Json
}

interface CleanCase extends Case {
  readonly merged?: Json
}

interface ConflictCase extends Case {
  /** The path inside the value. */
  readonly at?: ReadonlyArray<string | number>
}

/** Each case of the page that merges, by the name of the field that has it. */
const clean: Readonly<Record<string, CleanCase>> = {
  "different fields": {
    base: { a: 1, b: 1 },
    ours: { a: 2, b: 1 },
    theirs: { a: 1, b: 3 },
    merged: { a: 2, b: 3 }
  },
  "one field, one value": { base: { a: 1 }, ours: { a: 2 }, theirs: { a: 2 }, merged: { a: 2 } },
  "inside objects": {
    base: { s: { w: 1 } },
    ours: { s: { w: 2 } },
    theirs: { s: { w: 1, h: 1 } },
    merged: { s: { w: 2, h: 1 } }
  },
  "both add an object": {
    base: {},
    ours: { s: { w: 1 } },
    theirs: { s: { h: 1 } },
    merged: { s: { w: 1, h: 1 } }
  },
  "removed by one": { base: { a: 1, b: 1 }, ours: { a: 1 }, theirs: { a: 2, b: 1 }, merged: { a: 2 } },
  "removed by both": { base: 1 },
  "a list that one side changes": { base: [1, 2], ours: [2], theirs: [1, 2], merged: [2] },
  set: { rule: "set", base: ["a", "b"], ours: ["a", "b", "c"], theirs: ["b"], merged: ["b", "c"] },
  "set, with repetitions": {
    rule: "set",
    base: ["a", "b"],
    ours: ["a", "a", "b", "c"],
    theirs: ["a", "b", "b", "d"],
    merged: ["a", "b", "c", "d"]
  },
  sequence: { rule: "sequence", base: [1, 2, 3], ours: [0, 1, 2, 3], theirs: [1, 3], merged: [0, 1, 3] },
  "sequence: conflict": {
    rule: { sequence: "conflict" },
    base: [1, 2, 3],
    ours: [0, 1, 2, 3],
    theirs: [1, 3],
    merged: [0, 1, 3]
  },
  "two insertions byContent": {
    rule: { sequence: "byContent" },
    base: [1],
    ours: [1, 2],
    theirs: [1, 3],
    merged: [1, 2, 3]
  },
  key: {
    rule: { key: "id" },
    base: [{ id: 1, n: 1 }, { id: 2 }],
    ours: [{ id: 1, n: 2 }, { id: 2 }],
    theirs: [{ id: 1, n: 1, m: 1 }, { id: 3 }],
    merged: [{ id: 1, n: 2, m: 1 }, { id: 3 }]
  },
  "key, items that both add": {
    rule: { key: "id" },
    base: [{ id: "m" }],
    ours: [{ id: "m" }, { id: "b" }],
    theirs: [{ id: "m" }, { id: "a" }],
    merged: [{ id: "m" }, { id: "a" }, { id: "b" }]
  },
  "key, with rules of its items": {
    rule: { key: "id", fields: { n: "counter" } },
    base: [{ id: 1, n: 1 }],
    ours: [{ id: 1, n: 2 }],
    theirs: [{ id: 1, n: 5 }],
    merged: [{ id: 1, n: 6 }]
  },
  lines: { rule: "lines", base: "a\nb\nc", ours: "A\nb\nc", theirs: "a\nb\nc\nd", merged: "A\nb\nc\nd" },
  counter: { rule: "counter", base: 5, ours: 6, theirs: 3, merged: 4 },
  "counter, exactly": { rule: "counter", base: 0, ours: 0.1, theirs: 0.2, merged: 0.3 },
  "counter, by the same": { rule: "counter", base: 1, ours: 2, theirs: 2, merged: 3 },
  "counter that both add": { rule: "counter", ours: 2, theirs: 3, merged: 5 },
  "rules of members": {
    rule: { fields: { n: "counter", tags: "set" } },
    base: { n: 1, tags: [] },
    ours: { n: 2, tags: ["a"] },
    theirs: { n: 3, tags: ["b"] },
    merged: { n: 4, tags: ["a", "b"] }
  },
  "a function": {
    rule: ({ base, ours, theirs }) => Option.some(Number(ours) * Number(theirs) + Number(base)),
    base: 1,
    ours: 2,
    theirs: 3,
    merged: 7
  },
  "a function that removes": { rule: () => Option.some(undefined), base: 1, ours: 2, theirs: 3 },
  "a rule of lists for objects": {
    rule: "set",
    base: { a: 1, b: 1 },
    ours: { a: 2, b: 1 },
    theirs: { a: 1, b: 2 },
    merged: { a: 2, b: 2 }
  }
}

/** Each case that conflicts, because of no rule or by its rule. */
const conflicting: Readonly<Record<string, ConflictCase>> = {
  "one field, two values": { base: { a: 1 }, ours: { a: 2 }, theirs: { a: 3 }, at: ["a"] },
  "removed against changed": {
    base: { a: 1, s: { w: 1 } },
    ours: { a: 1 },
    theirs: { a: 1, s: { w: 2 } },
    at: ["s"]
  },
  "both add a value": { base: {}, ours: { a: 1 }, theirs: { a: 2 }, at: ["a"] },
  "a list without a rule": { base: [1], ours: [1, 2], theirs: [0, 1] },
  "a text without a rule": { base: "a\nb", ours: "A\nb", theirs: "a\nB" },
  whole: { rule: "whole", base: { a: 1, b: 1 }, ours: { a: 2, b: 1 }, theirs: { a: 1, b: 2 } },
  "two insertions": { rule: "sequence", base: [1], ours: [1, 2], theirs: [1, 3] },
  "two insertions: conflict": { rule: { sequence: "conflict" }, base: [1], ours: [1, 2], theirs: [1, 3] },
  "changes that touch": { rule: "sequence", base: [1, 2], ours: [9, 2], theirs: [1, 8] },
  "changes that touch, byContent": {
    rule: { sequence: "byContent" },
    base: [1, 2],
    ours: [9, 2],
    theirs: [1, 8]
  },
  "another order by both": {
    rule: { key: "id" },
    base: [{ id: 1 }, { id: 2 }, { id: 3 }],
    ours: [{ id: 2 }, { id: 1 }, { id: 3 }],
    theirs: [{ id: 3 }, { id: 1 }, { id: 2 }]
  },
  "a field of an item": {
    rule: { key: "id" },
    base: [{ id: "i", n: 1 }],
    ours: [{ id: "i", n: 2 }],
    theirs: [{ id: "i", n: 3 }],
    at: ["i", "n"]
  },
  "a key that is missing": {
    rule: { key: "id" },
    base: [{ id: 1 }],
    ours: [{ id: 1 }, { id: 2 }],
    theirs: [{ n: 1 }]
  },
  "a key that occurs twice": {
    rule: { key: "id" },
    base: [{ id: 1 }],
    ours: [{ id: 1 }, { id: 2, n: 1 }],
    theirs: [{ id: 1 }, { id: 3 }, { id: 3 }]
  },
  "one line": { rule: "lines", base: "a\nb", ours: "A\nb", theirs: "Ä\nb" },
  "a function that gives none": { rule: () => Option.none(), base: 1, ours: 2, theirs: 3 },
  "a rule of numbers for texts": { rule: "counter", base: "a", ours: "b", theirs: "c" },
  "a rule of lists for texts": { rule: "set", base: "a", ours: "b", theirs: "c" },
  "a rule of texts for lists": { rule: "lines", base: ["a", "b"], ours: ["A", "b"], theirs: ["a", "B"] }
}

/** The document that has one version of each case. */
const documentOf = <C extends Case>(cases: Readonly<Record<string, C>>, version: keyof C): JsonObject =>
  Object.fromEntries(
    Object.entries(cases).flatMap(([name, one]) =>
      one[version] === undefined ? [] : [[name, one[version] as Json] as const]
    )
  )

const rulesOf = (cases: Readonly<Record<string, Case>>): MergeRules => ({
  fields: Object.fromEntries(
    Object.entries(cases).flatMap(([name, { rule }]) => (rule === undefined ? [] : [[name, rule] as const]))
  )
})

/** Every rule does what its row of the page says, and so does a field without a rule. */
export const mergeCases = law(
  "mergeCases",
  merging(
    "each rule merges as its example shows, whoever comes first",
    "cases",
    "Every change of either side is in the merged document or in a conflict. All conflicts are found, not only the first one. The result does not depend on which side is called ours; at a conflict the document has our value."
  ),
  ({ people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const put = (documents: Readonly<Record<string, JsonObject>>) =>
        store.batch({}, (batch) =>
          Effect.forEach(Object.entries(documents), ([id, document]) => batch.put("people", id, document))
        )
      const base = documentOf(clean, "base")
      yield* put({ clean: base, exchanged: base, conflicts: documentOf(conflicting, "base") })
      const versions = yield* Effect.forEach(["clean", "exchanged", "conflicts"], (id) =>
        Effect.map(people.version(id), Option.getOrThrow)
      )
      const [ours, theirs] = [documentOf(clean, "ours"), documentOf(clean, "theirs")]
      yield* put({ clean: theirs, exchanged: ours, conflicts: documentOf(conflicting, "theirs") })
      const rules = rulesOf(clean)
      yield* people.replace("clean", ours, { base: versions[0]!, rules })
      yield* people.replace("exchanged", theirs, { base: versions[1]!, rules })
      const found = yield* read(people, "clean")
      const exchanged = yield* read(people, "exchanged")
      for (const [name, { merged = null }] of Object.entries(clean)) {
        yield* expectEqual(`the merge (${name})`, found?.[name] ?? null, merged)
        yield* expectEqual(`the other way round (${name})`, exchanged?.[name] ?? null, merged)
      }
      const error: ConflictError = yield* expectFailure(
        "conflicts",
        people.replace("conflicts", documentOf(conflicting, "ours"), {
          base: versions[2]!,
          rules: rulesOf(conflicting)
        }),
        "ConflictError"
      )
      const told = error.merge?.conflicts ?? []
      for (const [name, { at = [] }] of Object.entries(conflicting)) {
        const ones = told.filter(({ path }) => path[0] === name)
        yield* expectEqual(
          `the conflicts (${name})`,
          ones.map(({ path }) => path),
          [[name, ...at]]
        )
      }
      yield* expectEqual("our values at conflicts", error.merge?.document, documentOf(conflicting, "ours"))
      const own = told.find(({ path }) => path[0] === "removed against changed")
      yield* expectEqual("the values of a conflict", own, {
        path: ["removed against changed", "s"],
        base: { w: 1 },
        theirs: { w: 2 }
      })
      const stored = documentOf(conflicting, "theirs")
      const kept = (yield* read(people, "conflicts")) ?? ({} as JsonObject)
      for (const [name, value] of Object.entries(stored))
        yield* expectEqual("nothing was written", kept[name], value)
    })
)

const Counted = Schema.Number.annotations({ [MergeRuleId]: "counter" })
const Whole = Schema.Number.annotations({ [MergeRuleId]: "whole" })

/** What a record of numbers has to be, if all of them are counters. */
const counted = (names: ReadonlyArray<string>, n: number) =>
  Object.fromEntries(names.map((name) => [name, n]))

const levelled = define(
  "people",
  Schema.Struct({
    repository: Schema.Number,
    schema: Counted,
    schemaFirst: Counted,
    definition: Schema.Number,
    definitionFirst: Whole,
    call: Schema.Number,
    callFirst: Whole,
    levels: Schema.Struct({
      repository: Schema.Number,
      schema: Counted,
      definition: Schema.Number,
      call: Schema.Number
    }),
    members: Schema.Struct({ own: Schema.Number, others: Schema.Number }),
    prices: Schema.Record({ key: Schema.String, value: Schema.Number }),
    deep: Schema.Record({ key: Schema.String, value: Schema.Struct({ n: Schema.Number }) })
  }),
  {
    merge: {
      fields: {
        definition: "counter",
        definitionFirst: "counter",
        callFirst: "whole",
        "levels.definition": "counter",
        "members.*": "whole",
        "members.own": "counter",
        "prices.*": "counter",
        "deep.*.n": "counter"
      }
    }
  }
)

/** Every number is n, but for the one of which a merge is told to take one value whole. */
const levelledAt = (n: number) => ({
  ...(counted(
    ["repository", "schema", "schemaFirst", "definition", "definitionFirst", "call", "callFirst"],
    n
  ) as Record<
    "repository" | "schema" | "schemaFirst" | "definition" | "definitionFirst" | "call" | "callFirst",
    number
  >),
  levels: { repository: n, schema: n, definition: n, call: n },
  members: { own: n, others: 0 },
  prices: { a: n, b: n },
  deep: { a: { n }, b: { n } }
})

const callRules: MergeRules = { fields: { call: "counter", callFirst: "counter", "levels.call": "counter" } }

/** Every write that merges follows the rules of every place that has some. */
export const mergeRuleLevels = law(
  "mergeRuleLevels",
  merging(
    "rules are found wherever they are written, the nearest one first",
    "where-rules-are-written",
    "Rules of the call take precedence, then those of the definition, then those of the schema."
  ),
  ({ people: plain, expectEqual, root, store }) =>
    Effect.gen(function* () {
      const people = store.collection(levelled)
      const methods = ["update", "replace", "edit"] as const
      const put = (ids: ReadonlyArray<string>, n: number) =>
        store.batch({}, (batch) => Effect.forEach(ids, (id) => batch.put("people", id, levelledAt(n))))
      yield* put(methods, 1)
      const bases = yield* Effect.forEach(["update", "replace"], (id) =>
        Effect.map(people.version(id), Option.getOrThrow)
      )
      yield* put(["update", "replace"], 3)
      const rules = callRules
      yield* people.update("update", levelledAt(2), { base: bases[0]!, rules })
      yield* people.replace("replace", levelledAt(2), { base: bases[1]!, rules })
      let runs = 0
      const changed = (document: { readonly schema: number }) =>
        Effect.gen(function* () {
          if (runs++ === 0) yield* put(["edit"], 3)
          return levelledAt(document.schema + 1)
        })
      yield* people.edit("edit", changed, { rules })
      yield* expectEqual("an edit without a conflict runs", runs, 1)
      const name = nameOf(root, "levels")
      yield* put(["merge"], 1)
      yield* store.createBranch(name)
      yield* put(["merge"], 2)
      yield* store.onBranch(name).batch({}, (batch) => batch.put("people", "merge", levelledAt(3)))
      yield* store.merge(name, { collections: [levelled], rules: { people: callRules } })
      for (const id of [...methods, "merge"]) {
        const found = yield* read(plain, id)
        for (const [name, value] of Object.entries(levelledAt(4))) {
          yield* expectEqual(`${id}: ${name}`, found?.[name] ?? null, value)
        }
      }
      const version = Option.getOrThrow(yield* plain.version("update"))
      yield* plain.update("update", { repository: 5 })
      yield* plain.update("update", { repository: 6 }, { base: version })
      yield* expectEqual("without a definition", (yield* read(plain, "update"))?.["repository"], 7)
    }),
  {
    merge: {
      people: {
        repository: "counter",
        "levels.repository": "counter",
        schemaFirst: "whole",
        definitionFirst: "whole",
        callFirst: "whole"
      }
    }
  }
)

/** Functions of the caller decide what rules leave, and are told all they need. */
export const mergeFunctions = law(
  "mergeFunctions",
  merging(
    "functions decide documents and conflicts",
    "where-rules-are-written",
    "`rules.document` is a function for the whole document, and `rules.settle` decides each conflict by its path."
  ),
  ({ people, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      const sideOf = (n: number): JsonObject => ({
        in: { ours: n, theirs: n, value: n, removed: n },
        list: [{ id: "i", n }],
        left: n
      })
      const [base, ours, theirs] = [sideOf(1), sideOf(2), sideOf(3)]
      yield* people.insert(base, { id: "x" })
      const version = Option.getOrThrow(yield* people.version("x"))
      yield* people.replace("x", theirs)
      const told: Array<MergeConflict> = []
      const settle = (found: MergeConflict): Settlement | undefined => {
        told.push(found)
        const settlements: Readonly<Record<string, Settlement>> = {
          "in.ours": "ours",
          "in.theirs": "theirs",
          "in.value": { value: [4] },
          "in.removed": { value: undefined },
          "list.i.n": { value: 5 }
        }
        return settlements[found.path.join(".")]
      }
      const fields = { list: { key: "id" } } as const
      const error: ConflictError = yield* expectFailure(
        "a conflict that is left",
        people.replace("x", ours, { base: version, rules: { fields, settle } }),
        "ConflictError"
      )
      const left: MergeConflict = { path: ["left"], base: 1, ours: 2, theirs: 3 }
      yield* expectEqual("what is left", error.merge?.conflicts, [left])
      const paths = [
        ["in", "ours"],
        ["in", "removed"],
        ["in", "theirs"],
        ["in", "value"],
        ["left"],
        ["list", "i", "n"]
      ]
      const once = new Map(told.map((one) => [one.path.join("."), one]))
      yield* expectEqual(
        "settle is asked for",
        [...once.keys()].sort(),
        paths.map((path) => path.join("."))
      )
      for (const path of paths) {
        const found = once.get(path.join("."))
        yield* expectEqual("settle is told", found, { path, base: 1, ours: 2, theirs: 3 })
      }
      yield* people.replace("x", ours, {
        base: version,
        rules: { fields, settle: (found) => settle(found) ?? "theirs" }
      })
      const settled = { in: { ours: 2, theirs: 3, value: [4] }, list: [{ id: "i", n: 5 }], left: 3 }
      yield* expectEqual("what is settled", shape(yield* read(people, "x")), wanted(3, settled))
      const sides: Array<unknown> = []
      const now = Option.getOrThrow(yield* people.version("x"))
      yield* people.replace("x", theirs)
      yield* people.replace("x", ours, {
        base: now,
        rules: {
          fields: { left: () => Option.none() },
          document: (all) => {
            sides.push(all)
            return Option.some({ whole: true })
          }
        }
      })
      yield* expectEqual("document is told", sides[0], { base: settled, ours, theirs })
      yield* expectEqual("what it gives", shape(yield* read(people, "x")), wanted(5, { whole: true }))
      const last = Option.getOrThrow(yield* people.version("x"))
      yield* people.update("x", { n: 1 })
      yield* people.update("x", { n: 1, m: 1 }, { base: last })
      yield* expectEqual(
        "the same change",
        shape(yield* read(people, "x")),
        wanted(7, { whole: true, n: 1, m: 1 })
      )
      const same = people.update("x", { n: 1 }, { base: last, rules: { sameChange: "conflict" } })
      const twice: ConflictError = yield* expectFailure(
        "the same change as a conflict",
        same,
        "ConflictError"
      )
      yield* expectEqual("its path", twice.merge?.conflicts[0]?.path, ["n"])
    })
)
