import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { Oid } from "../../../src/domain/identifiers/Oid.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { conflictName } from "../../../src/domain/merge/ConflictMark.js"
import type { MergeRules } from "../../../src/domain/merge/index.js"
import { MergeRuleId } from "../../../src/domain/merge/index.js"
import * as Collection from "../../../src/store/CollectionDefinition.js"
import {
  markedContent,
  mergeContents,
  readable,
  resolvedContent,
  sideContent
} from "../../../src/store/internal/merge/MergeContent.js"
import {
  type BothChanged,
  compareSides,
  mergeContext,
  oidOf,
  pathConflicts,
  splitChanges,
  withRecorded
} from "../../../src/store/internal/merge/MergeItems.js"
import { type ItemChange, nameOfItem } from "../../../src/store/internal/merge/MergeTree.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"

type File = ItemChange["after"]

const oid = (letter: string) => Oid.make(letter.repeat(40))
const [a, b, c] = [oid("a"), oid("b"), oid("c")]
const file = (oid: Oid, mode: "100644" | "100755" | "120000" | "160000" = "100644"): File => ({ oid, mode })

const ada = { collection: "people", id: "ada" }

const change = (
  before: File,
  after: File,
  document: ItemChange["document"],
  path = "data/x"
): ItemChange => ({
  path,
  document,
  before,
  after
})

const changes = (...items: ReadonlyArray<ItemChange>) =>
  new Map(items.map((item) => [nameOfItem(item), item]))

/** The file that a merge has: "ours" if nothing is taken, or "both" if the contents decide. */
const split = (document: ItemChange["document"], base: File, ours: File, theirs: File) => {
  const { both, taken } = splitChanges(
    changes(change(base, ours, document)),
    changes(change(base, theirs, document))
  )
  assert.isAtMost(both.length + taken.length, 1)
  const [one] = both
  if (one !== undefined) {
    assert.deepStrictEqual(one, { path: "data/x", document, base, ours, theirs })
    return "both"
  }
  const [other] = taken
  if (other === undefined) return "ours"
  assert.deepStrictEqual(other.before, ours)
  return other.after ?? "none"
}

describe("changes of both sides, before contents are read", () => {
  it("take what one side alone did, and nothing that both did", () => {
    const theirs = change(file(a), file(b), undefined, "theirs")
    const ours = change(file(a), file(b), undefined, "ours")
    assert.deepStrictEqual(splitChanges(changes(ours), changes(theirs)), { taken: [theirs], both: [] })
    const gone = change(file(a), undefined, ada, "gone")
    assert.deepStrictEqual(splitChanges(new Map(), changes(gone)).taken, [gone])
    for (const document of [undefined, ada]) {
      assert.strictEqual(split(document, file(a), file(b), file(b)), "ours")
      assert.strictEqual(split(document, file(a), undefined, undefined), "ours")
      assert.strictEqual(split(document, undefined, file(b), file(b)), "ours")
    }
  })

  it("merge the content and the mode of a file separately", () => {
    for (const document of [undefined, ada]) {
      const x = (oid: Oid) => file(oid, "100755")
      assert.deepStrictEqual(split(document, file(a), file(b), x(a)), x(b))
      assert.deepStrictEqual(split(document, file(a), x(a), file(b)), x(b))
      assert.strictEqual(split(document, file(a), x(b), file(b)), "ours")
      assert.deepStrictEqual(split(document, file(a), file(b), x(b)), x(b))
      assert.strictEqual(split(document, file(a), file(b), file(c)), "both")
      assert.strictEqual(split(document, undefined, file(b), file(c)), "both")
    }
  })

  it("never conflict in the mode of a document, and do in that of another file", () => {
    const x = file(b, "100755")
    assert.strictEqual(split(undefined, undefined, file(b), x), "both")
    assert.strictEqual(split(ada, undefined, file(b), x), "ours")
    assert.strictEqual(split(ada, undefined, x, file(b)), "ours")
  })

  it("leave a link or submodule that both changed, whatever its id", () => {
    for (const mode of ["120000", "160000"] as const) {
      assert.strictEqual(split(undefined, file(a, mode), file(b, mode), file(c, mode)), "both")
      assert.strictEqual(split(undefined, file(a), file(a, mode), file(b)), "both")
      assert.strictEqual(split(undefined, file(a), file(b), file(a, mode)), "both")
      assert.strictEqual(split(undefined, file(a, mode), file(b, mode), file(b, mode)), "ours")
    }
  })

  it("remove a document that the other side has not changed, but for its mode", () => {
    const x = file(a, "100755")
    assert.strictEqual(split(ada, file(a), undefined, x), "ours")
    assert.strictEqual(split(ada, file(a), x, undefined), "none")
    assert.strictEqual(split(ada, file(a), undefined, file(b)), "both")
    assert.strictEqual(split(ada, file(a), file(b), undefined), "both")
    assert.strictEqual(split(undefined, file(a), undefined, x), "both")
    assert.strictEqual(split(undefined, file(a), file(b), undefined), "both")
  })

  it("come in the order of their names", () => {
    const items = ["b", "a", "c"].map((path) => change(undefined, file(a), undefined, path))
    const other = items.map((item) => ({ ...item, after: file(b) }))
    const names = (list: ReadonlyArray<{ readonly path: string }>) => list.map(({ path }) => path)
    assert.deepStrictEqual(names(splitChanges(new Map(), changes(...items)).taken), ["a", "b", "c"])
    assert.deepStrictEqual(names(splitChanges(changes(...items), changes(...other)).both), ["a", "b", "c"])
  })
})

describe("paths that no tree can contain together", () => {
  const put = (path: string, document?: ItemChange["document"]) => change(undefined, file(a), document, path)
  const problems = (ours: ReadonlyArray<ItemChange>, theirs: ReadonlyArray<ItemChange>) =>
    pathConflicts(changes(...ours), theirs).map(({ path, problem }) => [path, problem])

  it("are a file where the other side has a directory", () => {
    const at = (path: string) => `${path} is a file on one branch and a directory on the other`
    assert.deepStrictEqual(problems([put("x/y/z")], [put("x")]), [["x", at("x")]])
    assert.deepStrictEqual(problems([put("x/y/z")], [put("x/y")]), [["x/y", at("x/y")]])
    assert.deepStrictEqual(problems([put("x")], [put("x/y/z")]), [["x/y/z", at("x")]])
    assert.deepStrictEqual(problems([put("x/y")], [put("x/y/z")]), [["x/y/z", at("x/y")]])
    assert.deepStrictEqual(problems([put("x/y")], [put("x/z"), put("xy"), put("x/yz")]), [])
    const [conflict] = pathConflicts(changes(put("x")), [put("x/y")])
    assert.deepStrictEqual({ ...conflict, problem: "" } as unknown, {
      kind: "file",
      path: "x/y",
      base: undefined,
      ours: undefined,
      theirs: a,
      conflicts: [],
      problem: ""
    })
  })

  it("are a document where the other side has a submodule", () => {
    assert.deepStrictEqual(problems([put("x", ada)], [put("x")]), [
      ["x", "x is a document on one branch and a submodule on the other"]
    ])
    assert.deepStrictEqual(problems([put("x", ada)], [put("x", ada)]), [])
    assert.deepStrictEqual(problems([put("x")], [put("x")]), [])
  })

  it("are none of a file that either side removes", () => {
    const removed = (path: string) => change(file(a), undefined, undefined, path)
    assert.deepStrictEqual(problems([removed("x")], [put("x/y")]), [])
    assert.deepStrictEqual(problems([removed("x/y")], [put("x")]), [])
    assert.deepStrictEqual(problems([put("x")], [removed("x/y")]), [])
  })
})

const bytes = (value: unknown) =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))

const sides = (base: unknown, ours: unknown, theirs: unknown) => {
  const blobs = new Map<Oid, Uint8Array>()
  const at = (value: unknown): File => {
    if (value === undefined) return undefined
    const content = bytes(value)
    blobs.set(oidOf(content), content)
    return file(oidOf(content))
  }
  return { blobs, base: at(base), ours: at(ours), theirs: at(theirs) }
}

const compared = (
  [base, ours, theirs]: readonly [unknown, unknown, unknown],
  document: BothChanged["document"] = ada,
  settle?: Parameters<typeof compareSides>[3],
  rules: { readonly [collection: string]: MergeRules } = {}
) => {
  const { blobs, ...files } = sides(base, ours, theirs)
  const item: BothChanged = { path: "data/people/ada.json", document, ...files }
  return compareSides(item, blobs, mergeContext([], rules), settle)
}

describe("an item that both sides changed", () => {
  it.effect("is merged if it is a document whose fields do not contradict each other", () =>
    Effect.gen(function* () {
      const { conflict, merge } = yield* compared([
        { a: 1, b: 1 },
        { a: 2, b: 1 },
        { a: 1, b: 2 }
      ])
      assert.isUndefined(conflict)
      assert.deepStrictEqual(merge?._tag === "Merged" && readable(merge.content), { a: 2, b: 2 })
      // A base that cannot be read is none.
      const without = yield* compared(["[]", { a: 1 }, { b: 2 }])
      assert.isUndefined(without.conflict)
    })
  )

  it.effect("is a conflict with the paths and all three versions", () =>
    Effect.gen(function* () {
      const versions = [
        { a: 1, b: { c: 1 } },
        { a: 2, b: { c: 2 } },
        { a: 3, b: { c: 3 } }
      ] as const
      const { conflict } = yield* compared(versions)
      const [base, ours, theirs] = versions
      assert.deepStrictEqual(conflict as unknown, {
        kind: "changed",
        path: "data/people/ada.json",
        ...ada,
        base,
        ours,
        theirs,
        blobs: { ours: oidOf(bytes(ours)), theirs: oidOf(bytes(theirs)) },
        document: ours,
        conflicts: [
          { path: ["a"], base: 1, ours: 2, theirs: 3 },
          { path: ["b", "c"], base: 1, ours: 2, theirs: 3 }
        ],
        problem: "people/ada was changed on both branches at a, b.c"
      })
    })
  )

  it.effect("is a conflict as a whole if the rule of the document finds no merge", () =>
    Effect.gen(function* () {
      const undecided = { people: { document: () => Option.none() } }
      const { conflict } = yield* compared([{}, { a: 1 }, { b: 2 }], ada, undefined, undecided)
      assert.strictEqual(conflict?.problem, "people/ada was changed on both branches at the whole document")
      assert.deepStrictEqual(
        conflict?.conflicts.map(({ path }) => path),
        [[]]
      )
    })
  )

  it.effect("is a conflict if one side deleted it, or left no JSON object", () =>
    Effect.gen(function* () {
      const found = (...versions: readonly [unknown, unknown, unknown]) =>
        Effect.map(compared(versions), ({ conflict }) => [conflict?.kind, conflict?.problem])
      assert.deepStrictEqual(yield* found({}, undefined, { a: 1 }), [
        "deleted",
        "people/ada was deleted by ours and changed by theirs"
      ])
      assert.deepStrictEqual(yield* found({}, { a: 1 }, undefined), [
        "deleted",
        "people/ada was deleted by theirs and changed by ours"
      ])
      for (const [ours, theirs, side] of [
        ["[]", { a: 1 }, "ours"],
        [{ a: 1 }, "[]", "theirs"]
      ]) {
        const [kind, problem] = yield* found({}, ours, theirs)
        assert.strictEqual(kind, "unreadable")
        assert.include(problem, `data/people/ada.json was changed on both branches, and the file of ${side} `)
      }
    })
  )

  it.effect("is a conflict of its ids if it is no document", () =>
    Effect.gen(function* () {
      const path = "data/people/ada.json"
      const conflictOf = (item: Omit<BothChanged, "path" | "document">, blobs = new Map<Oid, Uint8Array>()) =>
        Effect.map(
          compareSides({ path, document: undefined, ...item }, blobs, mergeContext([])),
          ({ conflict }) => conflict as unknown
        )
      const at = { kind: "file", path, conflicts: [] }
      assert.deepStrictEqual(yield* conflictOf({ base: file(a), ours: file(b), theirs: file(c) }), {
        ...at,
        base: a,
        ours: b,
        theirs: c,
        problem: `${path} was changed on both branches`
      })
      for (const [ours, theirs] of [
        [undefined, file(c)],
        [file(b), undefined]
      ]) {
        assert.deepStrictEqual(yield* conflictOf({ base: file(a), ours, theirs }), {
          ...at,
          base: a,
          ours: ours?.oid,
          theirs: theirs?.oid,
          problem: `${path} was deleted on one branch and changed on the other`
        })
      }
      assert.deepStrictEqual(yield* conflictOf({ base: undefined, ours: file(b), theirs: file(c) }), {
        ...at,
        base: undefined,
        ours: b,
        theirs: c,
        problem: `${path} was changed on both branches`
      })
      // A base that was merged from several is in no repository: its id would lead nowhere.
      const merged = new Map([[a, bytes("x")]])
      const shown = (yield* conflictOf({ base: file(a), ours: file(b), theirs: file(c) }, merged)) as object
      assert.deepStrictEqual(shown, {
        ...at,
        base: undefined,
        ours: b,
        theirs: c,
        problem: `${path} was changed on both branches`
      })
    })
  )

  it.effect("is settled by a side, or place by place", () =>
    Effect.gen(function* () {
      const versions = [{}, { a: 1, b: 1, n: 1 }, { a: 2, b: 2, m: 1 }] as const
      const settled = (settle: Parameters<typeof compareSides>[3], rules = {}) =>
        Effect.map(compared(versions, ada, settle, rules), ({ conflict, merge }) => [
          merge?._tag === "Merged" && readable(merge.content),
          conflict?.conflicts.map(({ path }) => path.join("."))
        ])
      const both = { n: 1, m: 1 }
      assert.deepStrictEqual(yield* settled("ours"), [{ ...both, a: 1, b: 1 }, undefined])
      assert.deepStrictEqual(yield* settled("theirs"), [{ ...both, a: 2, b: 2 }, undefined])
      const some = ({ path }: { readonly path: ReadonlyArray<unknown> }) =>
        path[0] === "a" ? ("theirs" as const) : undefined
      assert.deepStrictEqual(yield* settled(some), [{ ...both, a: 2, b: 1 }, ["b"]])
      const other = ({ path }: { readonly path: ReadonlyArray<unknown> }) =>
        path[0] === "a" ? ("ours" as const) : ("theirs" as const)
      assert.deepStrictEqual(yield* settled(other), [{ ...both, a: 1, b: 2 }, undefined])
      const value = () => ({ value: 9 })
      assert.deepStrictEqual(yield* settled(value), [{ ...both, a: 9, b: 9 }, undefined])
      // The rules of the collection come first.
      const rules = { people: { settle: some } }
      assert.deepStrictEqual(yield* settled("ours", rules), [{ ...both, a: 2, b: 1 }, undefined])
    })
  )

  it.effect("fails if a function of the caller throws, or returns anything else", () =>
    Effect.gen(function* () {
      const failure = (settle: unknown, rules = {}) =>
        Effect.flip(compared([{}, { a: 1 }, { a: 2 }], ada, settle as never, rules))
      const thrown = (cause: unknown) => () => {
        throw cause
      }
      const hint = /return "ours", "theirs", or undefined/
      for (const [settle, message] of [
        [thrown(new Error("no")), "people/ada: onConflict failed at a: no"],
        [thrown("no"), "people/ada: onConflict failed at a: no"],
        [() => "mine", 'people/ada: onConflict returned "mine" for a'],
        [() => 7, "people/ada: onConflict returned a number for a"],
        [() => ({ other: 1 }), "people/ada: onConflict returned an object for a"],
        [() => null, "people/ada: onConflict returned null for a"]
      ] as const) {
        const error = yield* failure(settle)
        assert.strictEqual(error.message, message)
        assert.match(error.hint!, hint)
        assert.deepStrictEqual(
          [error.operation, error.collection, error.id, error.path],
          ["Store.merge", "people", "ada", "data/people/ada.json"]
        )
      }
      const long = yield* failure(() => "x".repeat(100))
      assert.strictEqual(long.message, `people/ada: onConflict returned "${"x".repeat(40)}" for a`)
      const inside = yield* Effect.flip(
        compared([{}, { a: { b: 1 } }, { a: { b: 2 } }], ada, thrown("no") as never)
      )
      assert.strictEqual(inside.message, "people/ada: onConflict failed at a.b: no")
      const undecided = { people: { document: () => Option.none() } }
      const atAll = yield* failure(thrown("no"), undecided)
      assert.strictEqual(atAll.message, "people/ada: onConflict failed at the whole document: no")
      const whole = yield* Effect.flip(
        compared([{}, { a: 1 }, { a: 2 }], ada, thrown("no") as never, {
          people: {
            fields: {},
            document: (() => {
              throw new Error("broken")
            }) as never
          }
        })
      )
      assert.strictEqual(whole.message, "people/ada: a merge rule failed: broken")
      assert.isUndefined(whole.hint)
      const text = yield* failure(undefined, { people: { fields: { a: thrown("odd") } } })
      assert.strictEqual(text.message, "people/ada: a merge rule failed: odd")
    })
  )
})

it("the id of a merged content is that of Git's blob", () => {
  assert.strictEqual(oidOf(bytes("")), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
})

describe("the rules of a merge", () => {
  it("are those given, those of a definition, those of its schema, and those that the repository has recorded", () => {
    const schema = Schema.Struct({
      a: Schema.String.annotations({ [MergeRuleId]: "lines" }),
      b: Schema.String.annotations({ [MergeRuleId]: "lines" })
    })
    const people = Collection.define("people", schema, { merge: { fields: { b: "whole", c: "set" } } })
    const context = mergeContext([people], { people: { fields: { c: "sequence" } } })
    assert.deepStrictEqual(context.rulesOf("people").fields, { a: "lines", b: "whole", c: "sequence" })
    assert.strictEqual(context.rulesOf("people"), context.rulesOf("people"))
    assert.strictEqual(context.definitionOf("people"), people as never)
    assert.isUndefined(context.definitionOf("places"))
    assert.deepStrictEqual(context.rulesOf("places"), {})
    assert.deepStrictEqual(mergeContext([]).rulesOf("constructor"), {})
    const recorded = withRecorded(context, new Map([["people", { a: "set", d: "counter" }]]))
    assert.deepStrictEqual(recorded.rulesOf("people").fields, {
      a: "lines",
      b: "whole",
      c: "sequence",
      d: "counter"
    })
    assert.strictEqual(recorded.rulesOf("people"), recorded.rulesOf("people"))
    assert.deepStrictEqual(recorded.rulesOf("places").fields, {})
    assert.strictEqual(recorded.definitionOf("people"), people as never)
    assert.strictEqual(withRecorded(context, new Map()), context)
  })
})

describe("contents of a merge", () => {
  const contents = (base: unknown, ours: unknown, theirs: unknown) => {
    const at = (value: unknown) => (value === undefined ? undefined : bytes(value))
    return { base: at(base), ours: at(ours), theirs: at(theirs) }
  }
  const resolved = (versions: ReturnType<typeof contents>, document: JsonObject) =>
    readable(Effect.runSync(resolvedContent(versions, "ada", document)))

  it("that a caller decided have the metadata of a merge", () => {
    const of = (rev: number, created: string, updated: string) => ({
      _id: "ada",
      _rev: rev,
      _created_at: created,
      _updated_at: updated,
      n: rev
    })
    const versions = contents(of(1, "1", "1"), of(4, "1", "3"), of(2, "0", "5"))
    assert.deepStrictEqual(resolved(versions, { m: 1, _id: "bob", _rev: 70 }), {
      _id: "ada",
      _rev: 5,
      _created_at: "0",
      _updated_at: "5",
      m: 1
    })
    // A program that leaves the metadata alone changes a document, too: the revision is a greater one than both.
    for (const [ours, theirs] of [
      [4, 1],
      [1, 4],
      [4, 4]
    ] as const) {
      const both = contents(of(1, "1", "1"), of(ours, "1", "1"), of(theirs, "1", "1"))
      assert.strictEqual(resolved(both, { m: 1 })?.["_rev"], 5)
    }
    // Of one side alone, the next revision.
    for (const one of [
      contents(of(1, "1", "1"), of(4, "1", "3"), undefined),
      contents(of(1, "1", "1"), undefined, of(4, "1", "3")),
      contents(undefined, of(4, "1", "3"), "[]")
    ]) {
      assert.deepStrictEqual(resolved(one, { m: 1 }), {
        _id: "ada",
        _rev: 5,
        _created_at: "1",
        _updated_at: "3",
        m: 1
      })
    }
    assert.deepStrictEqual(resolved(contents({}, { n: 1 }, undefined), {}), { _id: "ada", _rev: 1 })
    assert.deepStrictEqual(resolved(contents({}, { _rev: "x" }, undefined), {}), { _id: "ada", _rev: 1 })
    assert.deepStrictEqual(resolved(contents("[]", "[]", "[]"), { m: 1 }), { _id: "ada", _rev: 1, m: 1 })
    const refused = resolvedContent(contents({}, {}, {}), "ada", { a: { b: Number.NaN } })
    assert.match(Effect.runSync(Effect.flip(refused)), /^a\.b: /)
  })

  it.effect("that a caller decided have no number of the versions with other digits", () =>
    Effect.gen(function* () {
      const account = bytes('{ "l": [{ "account": 12345678901234567890 }] }')
      const other = bytes({ n: 1 })
      const document = { m: readable(account)!, n: 1 } as JsonObject
      for (const versions of [
        { base: account, ours: other, theirs: other },
        { base: other, ours: account, theirs: undefined },
        { base: undefined, ours: other, theirs: account }
      ]) {
        assert.strictEqual(
          yield* Effect.flip(resolvedContent(versions, "ada", document)),
          "the number 12345678901234567890 at l[0].account cannot be written again without changing it"
        )
        const content = yield* resolvedContent(versions, "ada", { m: 1 })
        assert.deepInclude(readable(content), { m: 1 })
      }
    })
  )

  it.effect("that are those of one side have the metadata of a merge, and the digits of that side", () =>
    Effect.gen(function* () {
      const of = (rev: number, created: string, updated: string, n: string) =>
        bytes(
          `{ "_created_at": "${created}", "_id": "ada", "_rev": ${rev}, "_updated_at": "${updated}", "n": ${n} }`
        )
      const versions = {
        base: undefined,
        ours: of(4, "2026-01-02", "2026-01-03", "12345678901234567890"),
        theirs: of(2, "2026-01-01", "2026-01-05", "1.0")
      }
      for (const [side, n] of [
        ["ours", "12345678901234567890"],
        ["theirs", "1.0"]
      ] as const) {
        assert.strictEqual(
          new TextDecoder().decode(yield* sideContent(versions, "ada", side)),
          [
            "{",
            '  "_created_at": "2026-01-01",',
            '  "_id": "ada",',
            '  "_rev": 5,',
            '  "_updated_at": "2026-01-05",',
            `  "n": ${n}`,
            "}\n"
          ].join("\n")
        )
      }
    })
  )

  it.effect("keep the digits of every number that no function returned", () =>
    Effect.gen(function* () {
      const of = (account: string, title: string) =>
        bytes(
          `{ "account": ${account}, "d": 9.700747204989683, "e": 2e400, "n": 12345678901234567890, "pi": 3.14159265358979323846, "title": "${title}" }`
        )
      // A program may have written the rounded number: that is a change like any other.
      const versions = {
        base: of("12345678901234567890", "base"),
        ours: of("12345678901234567890", "ours"),
        theirs: of("12345678901234567000", "theirs")
      }
      const merge = yield* mergeContents(versions, { fields: { title: () => Option.some("both") } })
      assert.strictEqual(
        merge._tag === "Merged" && new TextDecoder().decode(merge.content),
        [
          "{",
          '  "account": 12345678901234567000,',
          '  "d": 9.700747204989683,',
          '  "e": 2e400,',
          '  "n": 12345678901234567890,',
          '  "pi": 3.14159265358979323846,',
          '  "title": "both"',
          "}\n"
        ].join("\n")
      )
    })
  )

  // Not every number of 16 digits is a float. No other number of this text has many digits.
  it.effect("keep a change of the last of 16 digits", () =>
    Effect.gen(function* () {
      const of = (n: string, z: number) => bytes(`{ "n": ${n}, "z": ${z} }`)
      const versions = {
        base: of("9.700747204989684", 1),
        ours: of("9.700747204989684", 2),
        theirs: of("9.700747204989683", 1)
      }
      const merge = yield* mergeContents(versions, {})
      assert.strictEqual(
        merge._tag === "Merged" && new TextDecoder().decode(merge.content),
        '{\n  "n": 9.700747204989683,\n  "z": 2\n}\n'
      )
    })
  )

  it.effect("of several merge bases have a mark where these conflict, which no version shows", () =>
    Effect.gen(function* () {
      const versions = contents(
        { a: 1, b: { c: 1, d: 1 }, l: [1] },
        { a: 2, b: { c: 2, d: 1 }, l: [2] },
        {
          a: 3,
          b: { c: 3, d: 1 },
          l: [3]
        }
      )
      const merge = yield* mergeContents(versions, {})
      const content = markedContent(merge, ["one", undefined])
      const mark = { [conflictName]: ["one", null] }
      assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(content)), {
        a: mark,
        b: { c: mark, d: 1 },
        l: mark
      })
      assert.deepStrictEqual(readable(content), { b: { d: 1 } })
      for (const whole of [undefined, { _tag: "Unreadable", problem: "" } as const]) {
        const marked = markedContent(whole, ["one", "two"])
        assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(marked)), {
          [conflictName]: ["one", "two"]
        })
        assert.isUndefined(readable(marked))
      }
      // A difference at a mark is a conflict without a base.
      const again = yield* mergeContents(
        {
          base: content,
          ours: bytes({ a: 2, b: { c: 2, d: 1 } }),
          theirs: bytes({ a: 2, b: { c: 3, d: 1 } })
        },
        {}
      )
      assert.deepStrictEqual(again._tag === "Merged" && again.conflicts, [
        { path: ["b", "c"], ours: 2, theirs: 3 }
      ] as never)
    })
  )

  it.effect("inside a list that is merged by key are marked as a whole list", () =>
    Effect.gen(function* () {
      const of = (n: number) => ({ l: [{ id: "x", n }] })
      const merge = yield* mergeContents(contents(of(1), of(2), of(3)), { fields: { l: { key: "id" } } })
      const content = markedContent(merge, ["one", "two"])
      assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(content)), {
        l: { [conflictName]: ["one", "two"] }
      })
    })
  )

  it.effect("that are in conflict as a whole are one mark", () =>
    Effect.gen(function* () {
      const merge = yield* mergeContents(contents({ a: 1 }, { a: 2 }, { a: 3 }), {
        document: () => Option.none()
      })
      assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(markedContent(merge, ["one", "two"]))), {
        [conflictName]: ["one", "two"]
      })
    })
  )

  it("are shown as JavaScript has them: nothing of a missing or broken file, and all lists and numbers", () => {
    assert.isUndefined(readable(undefined))
    assert.isUndefined(readable(bytes("[]")))
    const text = '{"a": [{"b": null}], "c": null, "d": {"e": 1.0}, "f": true}'
    assert.deepStrictEqual(readable(bytes(text)), JSON.parse(text) as never)
  })
})

interface BlobsRequest {
  readonly oids: ReadonlyArray<Oid | undefined>
  readonly concurrency: number | undefined
}

/** A repository with files on two branches, and a store that records which blobs it asks for. */
const withBranches = (
  files: { readonly [branch in "base" | "main" | "draft"]: Readonly<Record<string, unknown>> }
) =>
  Effect.gen(function* () {
    const remote = yield* Memory.make()
    const asked: Array<BlobsRequest> = []
    const recording: GitRemoteService = {
      ...remote,
      blobs: (at, wanted, options) => {
        asked.push({ oids: wanted.map(({ oid }) => oid), concurrency: options?.concurrency })
        return remote.blobs(at, wanted, options)
      }
    }
    const put = (branch: string, given: Readonly<Record<string, unknown>>) =>
      Effect.gen(function* () {
        const changes = Object.entries(given).map(
          ([path, value]) => ({ _tag: "Put", path, content: bytes(value) }) as const
        )
        yield* remote.commit(branch, yield* remote.head(branch), { message: "by hand", changes })
      })
    const store = yield* Effect.provideService(Store.make({ concurrency: 3 }), GitRemote, recording)
    yield* put("main", files.base)
    yield* store.createBranch("draft")
    yield* put("main", files.main)
    yield* put("draft", files.draft)
    const fields = (id: string) =>
      Effect.map(store.collection("notes").get(id), (found) => {
        const { _created_at, _id, _rev, _updated_at, ...others } = Option.getOrThrow(found)
        return others as JsonObject
      })
    return { asked, fields, put, remote, store }
  })

describe("a merge of branches", () => {
  it.live("reads the contents of documents that both sides changed alone, and each content once", () =>
    Effect.gen(function* () {
      const [x, y, z] = ["x", "y", "z"].map((id) => `data/notes/${id}.json`)
      const [base, ours, theirs] = [
        { a: 1, b: 1 },
        { a: 2, b: 1 },
        { a: 1, b: 2 }
      ]
      const { asked, fields, store } = yield* withBranches({
        base: { [x!]: base, [y!]: base, [z!]: base, README: "1" },
        main: { [x!]: ours, [y!]: ours },
        draft: { [x!]: theirs, [y!]: theirs, [z!]: theirs, README: "2" }
      })
      yield* store.merge("draft")
      const oids = [base, ours, theirs].map((value) => oidOf(bytes(value)))
      assert.deepStrictEqual(asked, [{ oids, concurrency: 3 }])
      assert.deepStrictEqual(yield* Effect.forEach(["x", "y", "z"], fields), [
        { a: 2, b: 2 },
        { a: 2, b: 2 },
        { a: 1, b: 2 }
      ])
    })
  )

  it.live("reads no contents where each item was changed by one side", () =>
    Effect.gen(function* () {
      const [x, y] = ["data/notes/x.json", "data/notes/y.json"]
      const { asked, fields, store } = yield* withBranches({
        base: { [x]: { a: 1 }, [y]: { a: 1 } },
        main: { [x]: { a: 2 } },
        draft: { [y]: { a: 3 } }
      })
      assert.strictEqual((yield* store.merge("draft")).kind, "merge")
      assert.deepStrictEqual(asked, [])
      assert.deepStrictEqual(yield* Effect.forEach(["x", "y"], fields), [{ a: 2 }, { a: 3 }])
    })
  )

  it.live("merges a document that one side added, and one that only the other side has", () =>
    Effect.gen(function* () {
      const x = "data/notes/x.json"
      const { fields, store } = yield* withBranches({
        base: { README: "1" },
        main: { [x]: { a: 1 } },
        draft: { [x]: { b: 2 } }
      })
      assert.deepStrictEqual((yield* store.merge("draft")).conflicts, [])
      assert.deepStrictEqual(yield* fields("x"), { a: 1, b: 2 })
    })
  )

  it.live("whose histories cross asks nothing where both decided alike, and merges the rest", () =>
    Effect.gen(function* () {
      const x = "data/notes/x.json"
      const { fields, put, store } = yield* withBranches({
        base: { [x]: { a: 1, b: 1, c: 1 } },
        main: { [x]: { a: 2, b: 1, c: 1 } },
        draft: { [x]: { a: 3, b: 1, c: 1 } }
      })
      yield* store.createBranch("before")
      yield* store.merge("draft", { onConflict: "ours" })
      yield* store.merge("before", { into: "draft", onConflict: "theirs" })
      yield* put("main", { [x]: { a: 2, b: 2, c: 1 } })
      yield* put("draft", { [x]: { a: 2, b: 1, c: 2 } })
      assert.deepStrictEqual((yield* store.merge("draft")).conflicts, [])
      assert.deepStrictEqual(yield* fields("x"), { a: 2, b: 2, c: 2 })
    })
  )

  it.live("whose histories cross since two first commits is based on both of them", () =>
    Effect.gen(function* () {
      const x = "data/notes/x.json"
      const { fields, remote, store } = yield* withBranches({
        base: { [x]: { a: 1 } },
        main: {},
        draft: {}
      })
      const first = Option.getOrThrow(yield* remote.head("draft")).commit
      yield* remote.commit("other", Option.none(), {
        message: "another beginning",
        changes: [{ _tag: "Put", path: x, content: bytes({ b: 1 }) }]
      })
      const other = Option.getOrThrow(yield* remote.head("other")).commit
      // Git merges unrelated histories if it is told to.
      for (const [branch, merged, value] of [
        ["draft", other, { a: 2, b: 1 }],
        ["other", first, { a: 1, b: 2 }]
      ] as const) {
        yield* remote.commit(branch, yield* remote.head(branch), {
          message: "by hand",
          changes: [{ _tag: "Put", path: x, content: bytes(value) }],
          merges: [merged]
        })
      }
      const merged = yield* store.merge("draft", { into: "other" })
      assert.deepStrictEqual([merged.kind, merged.conflicts], ["merge", []])
      yield* store.merge("other")
      assert.deepStrictEqual(yield* fields("x"), { a: 2, b: 2 })
    })
  )
})
