import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import { encode } from "../../../src/domain/json/CanonicalJson.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { parseLossless } from "../../../src/domain/json/LosslessJson.js"
import {
  type DocumentSides,
  fieldsOfSchema,
  type MergeFields,
  type MergeRule,
  MergeRuleId,
  type MergeRules,
  mergeDocuments
} from "../../../src/domain/merge/index.js"
import { mergingExact } from "../../../src/domain/merge/MergeDocuments.js"
import { mergeRulesProblem } from "../../../src/domain/merge/MergeRules.js"

const swapped = <D>({ base, ours, theirs }: DocumentSides<D>): DocumentSides<D> => ({
  base,
  ours: theirs,
  theirs: ours
})

/** The merged document, which no side may find in conflict, and which both sides must agree on. */
const clean = (sides: DocumentSides, rules?: MergeRules): JsonObject => {
  const { document, conflicts } = mergeDocuments(sides, rules)
  assert.deepStrictEqual(conflicts, [])
  assert.deepStrictEqual(mergeDocuments(swapped(sides), rules), { document, conflicts: [] })
  return document
}

describe("objects", () => {
  it("are merged by their members, at every depth", () => {
    const base = { name: "Pen", size: { width: 1, height: 2 }, old: true }
    const ours = { name: "Pencil", size: { width: 3, height: 2 }, old: true }
    const theirs = { name: "Pen", size: { width: 1, height: 4 }, new: true }
    assert.deepStrictEqual(clean({ base, ours, theirs }), {
      name: "Pencil",
      size: { width: 3, height: 4 },
      new: true
    })
  })

  it("conflict where both sides changed a member, all members at once", () => {
    const sides = {
      base: { a: 1, b: { c: [1] }, d: { e: 1 }, f: 1 },
      ours: { a: 2, b: { c: [2] }, f: 2, g: 1 },
      theirs: { a: 3, b: { c: [3] }, d: { e: 2 }, h: 1 }
    }
    assert.deepStrictEqual(mergeDocuments(sides), {
      document: { a: 2, b: { c: [2] }, f: 2, g: 1, h: 1 },
      conflicts: [
        { path: ["a"], base: 1, ours: 2, theirs: 3 },
        { path: ["b", "c"], base: [1], ours: [2], theirs: [3] },
        { path: ["d"], base: { e: 1 }, theirs: { e: 2 } },
        { path: ["f"], base: 1, ours: 2 }
      ]
    })
  })

  it("have names that mean something to JavaScript alone", () => {
    const [base, ours, theirs] = [
      `{"__proto__":{"a":1},"constructor":1}`,
      `{"__proto__":{"a":1,"b":2},"constructor":1}`,
      `{"__proto__":{"a":3},"constructor":1,"toString":1}`
    ].map((text) => JSON.parse(text) as JsonObject) as [JsonObject, JsonObject, JsonObject]
    assert.strictEqual(
      JSON.stringify(clean({ base, ours, theirs })),
      `{"__proto__":{"a":3,"b":2},"constructor":1,"toString":1}`
    )
  })

  it("are merged if both sides added them, and are a conflict if the base had another value", () => {
    const [ours, theirs] = [{ a: { x: 1 } }, { a: { y: 2 } }]
    assert.deepStrictEqual(clean({ base: {}, ours, theirs }), { a: { x: 1, y: 2 } })
    for (const a of [null, 1, "text", [1]])
      assert.deepStrictEqual(mergeDocuments({ base: { a }, ours, theirs }).conflicts, [
        { path: ["a"], base: a, ours: { x: 1 }, theirs: { y: 2 } }
      ])
  })

  it("lack what both sides removed, whatever counts as one change and whatever was there", () => {
    const [ours, theirs] = [{ mine: 1 }, { yours: 1 }]
    for (const a of [1, [1], { n: 1 }, { "\0conflict": [1] }]) {
      const sides = { base: { a }, ours, theirs }
      for (const rules of [{}, { sameChange: "conflict" }, { fields: { "a.n": "counter" } }] as const)
        assert.deepStrictEqual(clean(sides, rules), { mine: 1, yours: 1 })
    }
  })

  it("that both sides changed alike have counters that are counted twice", () => {
    const side = (n: number, more: object): JsonObject => ({ stock: { n }, ...more })
    const sides = { base: side(1, {}), ours: side(2, { mine: 1 }), theirs: side(2, { yours: 1 }) }
    const fields = { "stock.n": "counter" } as const
    assert.deepStrictEqual(clean(sides, { fields }), { stock: { n: 3 }, mine: 1, yours: 1 })
    assert.deepStrictEqual(clean(sides), { stock: { n: 2 }, mine: 1, yours: 1 })
  })

  it("are settled at the place of the conflict", () => {
    const sides = {
      base: { a: 1, b: 1, c: 1, d: 1 },
      ours: { a: 2, c: 2, d: 2 },
      theirs: { a: 3, b: 2, c: 3, d: 3 }
    }
    const settle: MergeRules["settle"] = ({ path: [name] }) =>
      name === "a" ? "ours" : name === "b" ? "theirs" : name === "c" ? { value: undefined } : undefined
    assert.deepStrictEqual(mergeDocuments(sides, { settle }), {
      document: { a: 2, b: 2, d: 2 },
      conflicts: [{ path: ["d"], base: 1, ours: 2, theirs: 3 }]
    })
  })
})

describe("lists", () => {
  const lists = (base: JsonObject[string], ours: JsonObject[string], theirs: JsonObject[string]) => ({
    base: { list: base },
    ours: { list: ours },
    theirs: { list: theirs }
  })

  it("are whole without a rule", () => {
    const sides = lists([1], [1, 2], [1, 3])
    assert.deepStrictEqual(mergeDocuments(sides).conflicts, [
      { path: ["list"], base: [1], ours: [1, 2], theirs: [1, 3] }
    ])
  })

  it("as sets have what either side added and nothing that either removed", () => {
    const sides = lists(["a", "b", "c"], ["a", "c", "z", "d"], ["c", "b", "a", "d", "e"])
    assert.deepStrictEqual(clean(sides, { fields: { list: "set" } }), { list: ["c", "a", "d", "e", "z"] })
  })

  it("are merged by their rule if both sides added them, and are a conflict if the base had another value", () => {
    const [ours, theirs] = [{ list: [1] }, { list: [2] }]
    for (const list of ["set", { sequence: "byContent" }] as const) {
      assert.deepStrictEqual(clean({ base: {}, ours, theirs }, { fields: { list } }), { list: [1, 2] })
      for (const before of [null, 1, "text", {}])
        assert.lengthOf(
          mergeDocuments({ base: { list: before }, ours, theirs }, { fields: { list } }).conflicts,
          1
        )
    }
    for (const list of ["sequence", { sequence: "conflict" }] as const)
      assert.lengthOf(mergeDocuments({ base: { list: [] }, ours, theirs }, { fields: { list } }).conflicts, 1)
  })

  it("as sequences keep the order of both sides", () => {
    const sides = lists([1, 2, 3, 4, 5], [0, 1, 2, 4, 5], [1, 2, 3, 4, 9, 5])
    assert.deepStrictEqual(clean(sides, { fields: { list: "sequence" } }), { list: [0, 1, 2, 4, 9, 5] })
  })

  it("as sequences conflict at one place, or are ordered by content there", () => {
    const sides = lists([1], [1, 5, 3], [1, 4])
    assert.strictEqual(mergeDocuments(sides, { fields: { list: "sequence" } }).conflicts.length, 1)
    assert.deepStrictEqual(clean(sides, { fields: { list: { sequence: "byContent" } } }), {
      list: [1, 4, 5, 3]
    })
  })

  it("as sequences keep equal insertions of both sides where an equal change is not one change", () => {
    const sides = lists([0], [0, 1], [0, 1])
    const fields = { list: { sequence: "byContent" } } as const
    assert.deepStrictEqual(clean(sides, { fields }), { list: [0, 1] })
    assert.deepStrictEqual(clean(sides, { fields, sameChange: "conflict" }), { list: [0, 1, 1] })
    assert.strictEqual(
      mergeDocuments(sides, { fields: { list: "sequence" }, sameChange: "conflict" }).conflicts.length,
      1
    )
  })

  it("as sequences have insertions at one place in one order, whichever side made which", () => {
    const fields = { list: { sequence: "byContent" } } as const
    const at = (...items: ReadonlyArray<number>) => [0, ...items, 9]
    for (const [a, b, once, twice] of [
      [at(1), at(1, 2), at(1, 2), at(1, 1, 2)],
      [at(2, 1), at(2), at(2, 1), at(2, 2, 1)],
      [at(1, 3), at(1, 2), at(1, 2, 3), at(1, 2, 1, 3)],
      [at(3, 1), at(2, 1), at(2, 3, 1), at(2, 1, 3, 1)]
    ] as const) {
      for (const sides of [lists(at(), a, b), lists(at(), b, a)]) {
        assert.deepStrictEqual(clean(sides, { fields }), { list: once })
        assert.deepStrictEqual(clean(sides, { fields, sameChange: "conflict" }), { list: twice })
      }
    }
    assert.lengthOf(mergeDocuments(lists([1], [2], [3]), { fields }).conflicts, 1)
  })

  it("as lines conflict at one place, with an equal change where equal changes are conflicts", () => {
    const text = (...lines: ReadonlyArray<string>) => ({ list: lines.join("\n") })
    const sides = { base: text("a", "b"), ours: text("a", "c"), theirs: text("a", "c", "") }
    const equal = { ...sides, theirs: sides.ours }
    const fields = { list: "lines" } as const
    assert.deepStrictEqual(clean(equal, { fields }), sides.ours)
    assert.lengthOf(mergeDocuments(equal, { fields, sameChange: "conflict" }).conflicts, 1)
    assert.lengthOf(mergeDocuments(sides, { fields }).conflicts, 1)
    const inserted = { base: text("a", "z"), ours: text("a", "b", "z"), theirs: text("a", "c", "z") }
    assert.lengthOf(mergeDocuments(inserted, { fields }).conflicts, 1)
  })

  const keyed: MergeRules = { fields: { list: { key: "id", fields: { stock: "counter" } } } }

  it("of objects are a conflict as a whole if an item of one version has no key", () => {
    const [without, one, two] = [[{ n: 1 }], [{ id: 1 }], [{ id: 2 }]]
    for (const [base, ours, theirs] of [
      [without, one, two],
      [one, without, two],
      [one, two, without]
    ] as const)
      assert.deepStrictEqual(
        mergeDocuments(
          { base: { list: base }, ours: { list: ours }, theirs: { list: theirs } },
          keyed
        ).conflicts.map(({ path }) => path),
        [["list"]]
      )
  })

  it("of objects with a key are merged item by item", () => {
    const sides = lists(
      [
        { id: 1, n: "a", stock: 5 },
        { id: 2, n: "b" },
        { id: 3, n: "c" }
      ],
      [{ id: 9 }, { id: 1, n: "A", stock: 4 }, { id: 2, n: "b" }, { id: 7 }, { id: 3, n: "c" }],
      [{ id: 1, n: "a", stock: 3 }, { id: 3, n: "c", o: 1 }, { id: 8 }]
    )
    assert.deepStrictEqual(clean(sides, keyed), {
      list: [{ id: 9 }, { id: 1, n: "A", stock: 2 }, { id: 7 }, { id: 3, n: "c", o: 1 }, { id: 8 }]
    })
  })

  it("of objects with a key conflict at a member of an item, and where both sides give another order", () => {
    const item = (id: string, n = 0) => ({ id, n })
    const sides = lists(
      [item("p"), item("q"), item("r")],
      [item("q"), item("p", 1), item("r")],
      [item("p", 2), item("r"), item("q")]
    )
    assert.deepStrictEqual(mergeDocuments(sides, keyed), {
      document: { list: [item("q"), item("p", 1), item("r")] },
      conflicts: [
        { path: ["list", "p", "n"], base: 0, ours: 1, theirs: 2 },
        {
          path: ["list"],
          base: sides.base.list,
          ours: [item("q"), item("p", 1), item("r")],
          theirs: [item("p", 1), item("r"), item("q")]
        }
      ]
    })
  })

  const orders: ReadonlyArray<
    readonly [does: string, base: string, ours: string, theirs: string, merged: string]
  > = [
    ["insertions at one place are ordered by their keys", "pq", "pbcq", "paq", "pabcq"],
    ["insertions that begin alike are ordered by what follows", "p", "pcd", "pce", "pcde"],
    ["an insertion of both is there once", "p", "pc", "pcd", "pcd"],
    ["an insertion of both in two orders is there once", "p", "pcd", "pdc", "pcd"],
    ["an insertion before the first item stays there", "p", "ap", "pb", "apb"],
    ["an insertion after a removed item follows the item before", "pqr", "pqxr", "pyr", "pxyr"],
    ["an insertion among items that the other side moved follows its item", "pqr", "pqxr", "rpq", "rpqx"],
    ["the same move of both is one", "pqr", "rpq", "rpq", "rpq"],
    ["a move of both, with a removal", "pqrs", "srqp", "srp", "srp"],
    ["the same move of both with an insertion of both", "pq", "qxp", "qpx", "qxp"],
    ["removals of both", "pqrs", "prs", "pqs", "ps"],
    ["all items removed, and one inserted", "pq", "", "pqa", "a"]
  ]

  it.each(orders)("of objects with a key: %s", (_, ...given) => {
    const [base, ours, theirs, merged] = given.map((keys) => [...keys].map((id) => ({ id })))
    assert.deepStrictEqual(clean(lists(base!, ours!, theirs!), keyed), { list: merged! })
  })

  const sets: typeof orders = [
    ["the order of the only side that changed it", "pqr", "rqp", "pqrx", "rqpx"],
    ["the order of both if it is the same", "pqr", "rqp", "rqpa", "rqpa"],
    ["the order of the base if both changed it", "pqr", "rqp", "qpr", "pqr"],
    ["what both added once, in order", "p", "pdc", "pbc", "pbcd"],
    ["nothing that a side removed", "pqr", "pr", "pqrx", "prx"]
  ]

  it.each(sets)("as sets have %s", (_, ...given) => {
    const [base, ours, theirs, merged] = given.map((items) => [...items])
    assert.deepStrictEqual(clean(lists(base!, ours!, theirs!), { fields: { list: "set" } }), {
      list: merged!
    })
  })

  it("with an item without a key are whole", () => {
    for (const odd of [[{ n: 1 }], [{ id: null }], [{ id: [1] }], ["p"], [["id"]]]) {
      const sides = lists([{ id: 1 }], [{ id: 1 }, ...odd], [{ id: 1 }, { id: 2 }])
      assert.deepStrictEqual(
        mergeDocuments(sides, keyed).conflicts.map(({ path }) => path),
        [["list"]]
      )
      assert.deepStrictEqual(
        mergeDocuments(swapped(sides), keyed).conflicts.map(({ path }) => path),
        [["list"]]
      )
    }
  })

  it("of objects are identified by equal keys, however they are spelled", () => {
    const sides = lists([{ id: 1, n: 0 }], [{ id: 1, n: 1 }], [{ id: 1, n: 0, m: 1 }, { id: "1" }])
    assert.deepStrictEqual(clean(sides, keyed), { list: [{ id: 1, n: 1, m: 1 }, { id: "1" }] })
  })

  it("with two items of one key are whole", () => {
    const sides = lists([{ id: 1 }], [{ id: 1 }, { id: 1 }], [{ id: 1 }, { id: 2 }])
    assert.deepStrictEqual(
      mergeDocuments(sides, keyed).conflicts.map(({ path }) => path),
      [["list"]]
    )
  })
})

describe("texts and numbers", () => {
  const one = (value: JsonObject[string]) => ({ it: value })

  it("are merged by lines on request", () => {
    const sides = { base: one("a\nb\nc\nd\n"), ours: one("a\nB\nc\nd\n"), theirs: one("a\nb\nc\nd\ne\n") }
    assert.deepStrictEqual(clean(sides, { fields: { it: "lines" } }), one("a\nB\nc\nd\ne\n"))
    assert.strictEqual(mergeDocuments(sides).conflicts.length, 1)
  })

  it("too long to compare are a conflict, at once", () => {
    const text = (first: string, last: string) => [first, ...Array(40_000).fill("same"), last].join("\n")
    const sides = { base: one(text("a", "b")), ours: one(text("c", "b")), theirs: one(text("a", "d")) }
    assert.deepStrictEqual(
      mergeDocuments(sides, { fields: { it: "lines" } }).conflicts.map(({ path }) => path),
      [["it"]]
    )
    const alike = {
      base: one(text("a", "b")),
      ours: { ...one(text("c", "d")), mine: 1 },
      theirs: one(text("c", "d"))
    }
    assert.deepStrictEqual(clean(alike, { fields: { it: "lines" } }), alike.ours)
  })

  it("of another kind than their rule are whole", () => {
    for (const [ours, theirs] of [
      [1, "b"],
      ["b", 1],
      [["b"], "c"]
    ] as const)
      for (const it of ["lines", "counter", "set", { key: "id" }] as const)
        assert.deepStrictEqual(
          mergeDocuments({ base: one("a"), ours: one(ours), theirs: one(theirs) }, { fields: { it } })
            .conflicts,
          [{ path: ["it"], base: "a", ours, theirs }]
        )
  })

  it("as counters have what each side added, exactly", () => {
    const counters = { fields: { it: "counter" } } as const
    assert.deepStrictEqual(clean({ base: one(5), ours: one(6), theirs: one(6) }, counters), one(7))
    assert.deepStrictEqual(clean({ base: one(0), ours: one(0.1), theirs: one(0.2) }, counters), one(0.3))
    assert.deepStrictEqual(clean({ base: {}, ours: one(2), theirs: one(3) }, counters), one(5))
    assert.deepStrictEqual(
      clean({ base: one(1e21), ours: one(3e21), theirs: one(2e21) }, counters),
      one(4e21)
    )
    // JavaScript has no number for the exact sum: plain numbers have a plain, rounded sum.
    assert.deepStrictEqual(
      clean({ base: one(0), ours: one(2 ** 53), theirs: one(1) }, counters),
      one(2 ** 53)
    )
    assert.strictEqual(
      mergeDocuments({ base: one("x"), ours: one(2), theirs: one(3) }, counters).conflicts.length,
      1
    )
  })

  const bytes = (text: string) => Either.getOrThrow(parseLossless(new TextEncoder().encode(text)))
  const spelled = (base: string, ours: string, theirs: string, rules?: MergeRules) => {
    const sides = { base: bytes(base), ours: bytes(ours), theirs: bytes(theirs) }
    const { document, conflicts } = Steps.runSync(mergingExact(sides, rules))
    assert.deepStrictEqual(Steps.runSync(mergingExact(swapped(sides), rules)), { document, conflicts: [] })
    assert.deepStrictEqual(conflicts, [])
    return new TextDecoder().decode(Either.getOrThrow(encode(document))).replace(/\s+/g, "")
  }

  it("keep the spelling of numbers", () => {
    assert.strictEqual(
      spelled(`{"a":1.0,"b":1}`, `{"a":1.0,"b":2}`, `{"a":1.0,"b":1,"c":1e3}`),
      `{"a":1.0,"b":2,"c":1000.0}`
    )
    // A side that only spelled a number otherwise has not changed it.
    assert.strictEqual(spelled(`{"a":1}`, `{"a":1.0}`, `{"a":2}`), `{"a":2}`)
    assert.strictEqual(
      spelled(`{"a":9007199254740992}`, `{"a":9007199254740992,"b":1}`, `{"a":9007199254740993}`),
      `{"a":9007199254740993,"b":1}`
    )
    for (const a of ["sequence", { sequence: "byContent" }] as const) {
      const list = (ours: string, theirs: string) =>
        spelled(`{"a":[10,1,2]}`, `{"a":${ours}}`, `{"a":${theirs}}`, { fields: { a } })
      assert.strictEqual(list("[10.0,1,2]", "[11,1,2]"), `{"a":[11,1,2]}`)
      assert.strictEqual(list("[10.0,1,2]", "[10,1,3]"), `{"a":[10.0,1,3]}`)
      assert.strictEqual(list("[10,1,2,3]", "[10,1,2,3.0]"), `{"a":[10,1,2,3]}`)
    }
    const set = (base: string, ours: string, theirs: string) =>
      spelled(`{"a":${base}}`, `{"a":${ours}}`, `{"a":${theirs}}`, { fields: { a: "set" } })
    assert.strictEqual(set("[]", "[10.0]", "[10,9]"), `{"a":[10,9]}`)
    assert.strictEqual(set("[10]", "[10.0]", "[10,9]"), `{"a":[10.0,9]}`)
    assert.strictEqual(set("[]", `[{"m":1.0,"n":2}]`, `[{"m":1,"n":2.0},9]`), `{"a":[9,{"m":1,"n":2.0}]}`)
    const counters: MergeRules = { fields: { a: "counter" } }
    assert.strictEqual(
      spelled(`{"a":9007199254740993}`, `{"a":9007199254740995}`, `{"a":9007199254740994}`, counters),
      `{"a":9007199254740996}`
    )
    assert.strictEqual(spelled(`{"a":1.0}`, `{"a":2.0}`, `{"a":3.5}`, counters), `{"a":4.5}`)
    assert.strictEqual(spelled(`{"a":1.0}`, `{"a":2.0}`, `{"a":3.0}`, counters), `{"a":4.0}`)
  })
})

describe("metadata", () => {
  const stored = (rev: number, minute: number, body: JsonObject, created = "2026-01-01T00:00:00Z") => ({
    _id: "x",
    _rev: rev,
    _created_at: created,
    _updated_at: `2026-01-01T00:0${minute}:00Z`,
    ...body
  })
  const base = stored(3, 0, { a: 1, b: 1 })

  it("is that of the one side that changed the document, and follows both where both did", () => {
    const ours = stored(5, 2, { a: 2, b: 1 })
    assert.deepStrictEqual(clean({ base, ours, theirs: base }), ours)
    assert.deepStrictEqual(
      clean({ base, ours, theirs: stored(4, 3, { a: 1, b: 2 }) }),
      stored(6, 3, { a: 2, b: 2 })
    )
    assert.deepStrictEqual(
      clean({ base: undefined, ours, theirs: stored(1, 1, { c: 1 }, "2025-12-31T23:00:00Z") }),
      stored(6, 2, { a: 2, b: 1, c: 1 }, "2025-12-31T23:00:00Z")
    )
  })

  it("of one version on both sides stays, and counters of it are counted once", () => {
    const ours = stored(4, 1, { a: 2, b: 1 })
    assert.deepStrictEqual(clean({ base, ours, theirs: { ...ours } }, { fields: { a: "counter" } }), ours)
  })

  it("of a document that both added is in no conflict, also where equal changes are", () => {
    const [ours, theirs] = [stored(1, 0, { a: 1 }), stored(1, 1, { b: 1 })]
    assert.deepStrictEqual(
      clean({ base: undefined, ours, theirs }, { sameChange: "conflict" }),
      stored(2, 1, { a: 1, b: 1 })
    )
  })

  it("that a foreign program broke is taken from the other side", () => {
    const ours = { ...stored(5, 2, { a: 2, b: 1 }), _rev: "five", _updated_at: "yesterday" }
    assert.deepStrictEqual(
      clean({ base, ours, theirs: stored(4, 3, { a: 1, b: 2 }) }),
      stored(5, 3, { a: 2, b: 2 })
    )
  })
})

describe("a mark of a conflict between merge bases", () => {
  const mark = { "\0conflict": ["one", null] }

  it("is not a base: differences there are a conflict, by any rule", () => {
    const sides = { base: { s: mark }, ours: { s: { w: 2 } }, theirs: { s: { h: 5 } } }
    const found = { path: ["s"], ours: { w: 2 }, theirs: { h: 5 } }
    assert.deepStrictEqual(mergeDocuments(sides), { document: sides.ours, conflicts: [found] })
    assert.deepStrictEqual(clean({ ...sides, theirs: sides.ours }), sides.ours)
    const lists = { base: { s: mark }, ours: { s: [1] }, theirs: { s: [2] } }
    for (const s of ["set", "sequence", "counter", { key: "id" }] as const) {
      assert.strictEqual(mergeDocuments(lists, { fields: { s } }).conflicts.length, 1)
    }
  })

  it("is passed to no rule, at any path", () => {
    const seen: Array<unknown> = []
    const note: MergeRules["document"] = (sides) => {
      seen.push(sides)
      return Option.none()
    }
    for (const base of [{ s: mark }, { s: { w: mark } }]) {
      const sides = { base, ours: { s: { w: 2 } }, theirs: { s: { w: 5 } } }
      const { conflicts } = mergeDocuments(sides, { fields: { s: note } })
      assert.deepStrictEqual(conflicts, [{ path: ["s"], ours: { w: 2 }, theirs: { w: 5 } }])
    }
    mergeDocuments({ base: mark, ours: { a: 1 }, theirs: { a: 2 } }, { document: note, settle: () => "ours" })
    assert.deepStrictEqual(seen, [
      { ours: { w: 2 }, theirs: { w: 5 } },
      { ours: { w: 2 }, theirs: { w: 5 } },
      { ours: { a: 1 }, theirs: { a: 2 } }
    ])
  })
})

describe("rules", () => {
  const most: MergeRules["document"] = ({ ours, theirs }) =>
    typeof ours === "number" && typeof theirs === "number"
      ? Option.some(Math.max(ours, theirs))
      : Option.none()

  it("are found by names, paths and the wildcard", () => {
    const fields = { "a.b": most, "c.*": most, "*": "whole", "d.e": "counter" } as const
    const value = (n: number) => ({ a: { b: n }, c: { x: n, y: n }, "d.e": n, d: { e: n } })
    assert.deepStrictEqual(clean({ base: value(0), ours: value(1), theirs: value(2) }, { fields }), {
      a: { b: 2 },
      c: { x: 2, y: 2 },
      "d.e": 3,
      d: { e: 3 }
    })
    assert.strictEqual(
      mergeDocuments({ base: { z: {} }, ours: { z: { a: 1 } }, theirs: { z: { b: 1 } } }, { fields })
        .conflicts.length,
      1
    )
  })

  it("for the whole document leave the metadata alone", () => {
    const document: MergeRules["document"] = ({ ours, theirs }) =>
      Option.some({ from: [ours, theirs].map((side) => JSON.stringify(side)).sort() })
    const sides = {
      base: { _id: "x", _rev: 1, a: 1 },
      ours: { _id: "x", _rev: 2, a: 2 },
      theirs: { _id: "x", _rev: 2, a: 3 }
    }
    assert.deepStrictEqual(clean(sides, { document }), { _id: "x", _rev: 3, from: [`{"a":2}`, `{"a":3}`] })
  })

  it("for the whole document may leave it in conflict, and never see its id", () => {
    const seen: Array<unknown> = []
    const document: MergeRules["document"] = (sides) => {
      seen.push(sides)
      return Option.none()
    }
    const sides = { base: { _id: "x", n: 1 }, ours: { _id: "y", n: 2 }, theirs: { _id: "z", n: 3 } }
    assert.deepStrictEqual(mergeDocuments(sides, { document }), {
      document: { _id: "y", n: 2 },
      conflicts: [
        { path: [], base: { n: 1 }, ours: { n: 2 }, theirs: { n: 3 } },
        { path: ["_id"], base: "x", ours: "y", theirs: "z" }
      ]
    })
    assert.deepStrictEqual(seen, [{ base: { n: 1 }, ours: { n: 2 }, theirs: { n: 3 } }])
  })

  it("are refused in words where they return what they may not", () => {
    const sides = { base: { a: { n: 1 } }, ours: { a: { n: 2 } }, theirs: { a: { n: 3 } } }
    const returned: ReadonlyArray<readonly [unknown, RegExp]> = [
      [5, /a number/],
      [undefined, /undefined/],
      [null, /null/],
      [Promise.resolve(Option.none()), /a promise/],
      [Option.some(new Date(0)), /not JSON/],
      [Option.some(Promise.resolve(1)), /a promise/],
      [Option.some(Number.NaN), /not JSON/]
    ]
    for (const [value, says] of returned) {
      const rules = { fields: { "a.n": () => value } } as unknown as MergeRules
      const wrong = () => mergeDocuments(sides, rules)
      assert.throws(wrong, /the rule for a\.n returned .*must return an Option/)
      assert.throws(wrong, says)
      const document = { document: () => value } as unknown as MergeRules
      assert.throws(() => mergeDocuments(sides, document), says)
    }
    const settled: ReadonlyArray<readonly [unknown, RegExp]> = [
      ["their", /"their"/],
      [null, /null/],
      [7, /a number/],
      [Option.some("ours"), /an Option/],
      [Promise.resolve("ours"), /a promise/],
      [{ value: new Map() }, /not JSON/]
    ]
    for (const [value, says] of settled) {
      const wrong = () => mergeDocuments(sides, { settle: () => value } as unknown as MergeRules)
      assert.throws(
        wrong,
        /settle for a\.n returned .*must return "ours", "theirs", \{ value \} or undefined/
      )
      assert.throws(wrong, says)
    }
    assert.throws(() => mergeDocuments(sides, { document: () => Option.some(1) }), /an object/)
  })

  it("come from annotations of a schema, by the names and types that are stored", () => {
    interface Comment {
      readonly id: string
      readonly votes: number
      readonly replies: ReadonlyArray<Comment>
    }
    const Comment = Schema.Struct({
      id: Schema.String,
      votes: Schema.Number.annotations({ [MergeRuleId]: "counter" }),
      replies: Schema.Array(Schema.suspend((): Schema.Schema<Comment> => Comment)).annotations({
        [MergeRuleId]: { key: "id" }
      })
    })
    class Post extends Schema.Class<Post>("Post")({
      title: Schema.String,
      tags: Schema.optional(Schema.Array(Schema.String).annotations({ [MergeRuleId]: "set" })),
      seen: Schema.Date.annotations({ [MergeRuleId]: most }),
      text: Schema.propertySignature(Schema.String).annotations({ [MergeRuleId]: "lines" }),
      stock: Schema.Record({ key: Schema.String, value: Comment.fields.votes }),
      comments: Schema.propertySignature(Comment.fields.replies).pipe(Schema.fromKey("comment_list"))
    }) {}
    const fields = fieldsOfSchema(Post)
    assert.isUndefined(mergeRulesProblem({ fields }))
    const { comment_list, ...others } = fields
    assert.deepStrictEqual(others as object, {
      tags: "set",
      seen: most,
      text: "lines",
      stock: { fields: { "*": "counter" } }
    })
    const thread = (votes: number, more: ReadonlyArray<Comment>) => ({
      comment_list: [{ id: "a", votes: 0, replies: [{ id: "b", votes, replies: more }] }]
    })
    const reply = (id: string): Comment => ({ id, votes: 0, replies: [] })
    const sides = { base: thread(0, []), ours: thread(1, [reply("x")]), theirs: thread(1, [reply("w")]) }
    assert.deepStrictEqual(
      clean(sides as unknown as DocumentSides, { fields: { comment_list: comment_list! } }) as object,
      thread(2, [reply("w"), reply("x")])
    )
  })

  it("of a schema are found through refinements, transformations, unions and recursion", () => {
    const rule = (rule: MergeRule) => ({ [MergeRuleId]: rule })
    const counter = Schema.Number.annotations(rule("counter"))
    const set = Schema.Array(Schema.String).annotations(rule("set"))
    const item = Schema.Struct({ id: Schema.String, n: counter })
    const items = Schema.Array(item)
    const keyed = { key: "id" } as const
    interface Tree {
      readonly n: number
      readonly below?: Tree | undefined
    }
    const Tree = Schema.Struct({
      n: counter,
      below: Schema.optional(Schema.suspend((): Schema.Schema<Tree> => Tree))
    })
    const text = Schema.String.annotations(rule("lines"))
    const one = { default: () => 1 }
    const doubled = (from: Schema.Schema<number>, to: Schema.Schema<number>) =>
      Schema.transform(from, to, { decode: (n) => 2 * n, encode: (n) => n / 2 })
    const cases: ReadonlyArray<readonly [Schema.Schema.All, MergeFields]> = [
      [Schema.String, {}],
      [Schema.Struct({ a: Schema.String }), {}],
      [Schema.Struct({ a: counter }).pipe(Schema.filter(() => true)), { a: "counter" }],
      [Schema.Union(Schema.Struct({ a: counter }), Schema.Struct({ b: set })), { a: "counter", b: "set" }],
      [
        Schema.transform(Schema.Struct({ a: counter }), Schema.Struct({ b: Schema.Number }), {
          decode: ({ a }) => ({ b: a }),
          encode: ({ b }) => ({ a: b })
        }),
        { a: "counter" }
      ],
      [
        Schema.Struct({ size: Schema.Struct({ w: counter, h: Schema.Number }) }),
        { size: { fields: { w: "counter" } } }
      ],
      [Schema.Struct({ size: Schema.Struct({ h: Schema.Number }) }), {}],
      [Schema.Struct({ a: counter.pipe(Schema.int()) }), { a: "counter" }],
      [Schema.Struct({ a: Schema.NullOr(counter) }), { a: "counter" }],
      [Schema.Struct({ a: Schema.compose(text, Schema.NumberFromString) }), { a: "lines" }],
      [Schema.Struct({ a: Schema.NumberFromString.annotations(rule("counter")) }), { a: "counter" }],
      [
        Schema.Struct({ a: items.annotations(rule({ sequence: "byContent" })) }),
        { a: { sequence: "byContent" } }
      ],
      [Schema.Struct({ a: items.annotations(rule(keyed)) }), { a: { key: "id", fields: { n: "counter" } } }],
      [
        Schema.Struct({ a: Schema.NullOr(items).annotations(rule(keyed)) }),
        { a: { key: "id", fields: { n: "counter" } } }
      ],
      [
        Schema.Struct({ a: items.pipe(Schema.minItems(1)).annotations(rule(keyed)) }),
        { a: { key: "id", fields: { n: "counter" } } }
      ],
      [
        Schema.Struct({ a: Schema.NonEmptyArray(item).annotations(rule(keyed)) }),
        { a: { key: "id", fields: { n: "counter" } } }
      ],
      [
        Schema.Struct({ a: Schema.Array(Schema.suspend(() => item)).annotations(rule(keyed)) }),
        { a: { key: "id", fields: { n: "counter" } } }
      ],
      [
        Schema.Struct({ a: items.annotations(rule({ key: "id", fields: {} })) }),
        { a: { key: "id", fields: {} } }
      ],
      [Schema.Struct({ a: Schema.Array(Schema.String).annotations(rule(keyed)) }), { a: keyed }],
      [Schema.Struct({ a: Schema.Unknown.annotations(rule(keyed)) }), { a: keyed }],
      [Schema.Record({ key: Schema.String, value: counter }), { "*": "counter" }],
      [Schema.Struct({ [Symbol.for("hidden")]: counter }), {}],
      [Schema.Struct({ a: Schema.propertySignature(Schema.Number).annotations(rule(most)) }), { a: most }],
      [
        Schema.Struct({
          a: Schema.propertySignature(Schema.Number)
            .pipe(Schema.fromKey("stored"))
            .annotations(rule("counter"))
        }),
        { stored: "counter" }
      ],
      [
        Schema.Struct({
          [Symbol.for("hidden")]: Schema.optionalWith(Schema.Number, one).annotations(rule("counter"))
        }),
        {}
      ],
      [Schema.Struct({ a: counter, [Symbol.for("hidden")]: counter }), { a: "counter" }],
      [Schema.Struct({ size: Schema.Struct({ w: Schema.optionalWith(Schema.Number, one) }) }), {}],
      [Schema.Struct({ a: doubled(Schema.Number, counter) }), { a: "counter" }],
      [Schema.Struct({ a: doubled(Schema.Number.annotations(rule("whole")), counter) }), { a: "counter" }],
      [Schema.Struct({ a: Schema.Union(Schema.Null, counter) }), { a: "counter" }],
      ...[Schema.Union(Schema.Null, items), Schema.suspend(() => items), Schema.ReadonlySet(item)].map(
        (list): readonly [Schema.Schema.All, MergeFields] => [
          Schema.Struct({ a: list.annotations(rule(keyed)) }),
          { a: { key: "id", fields: { n: "counter" } } }
        ]
      ),
      [Schema.Struct({ a: Schema.Tuple(item).annotations(rule(keyed)) }), { a: keyed }]
    ]
    for (const [schema, fields] of cases) {
      const found = fieldsOfSchema(schema)
      assert.deepStrictEqual(Object.entries(found), Object.entries(fields), String(schema.ast))
      assert.deepStrictEqual(Reflect.ownKeys(found), Object.keys(fields))
    }
    const tree = fieldsOfSchema(Tree)
    assert.strictEqual(tree["n"], "counter")
    assert.strictEqual((tree["below"] as { readonly fields: MergeFields }).fields, tree)
  })

  it("that are no rules are described by their place", () => {
    const words = "whole, set, sequence, lines, counter"
    const problems: ReadonlyArray<readonly [fields: unknown, problem: string | undefined]> = [
      [[], "fields must be an object of rules, it is a list"],
      [{ a: "sets" }, 'fields["a"]: "sets" is not a rule: did you mean set?'],
      [{ a: "" }, `fields["a"]: "" is not a rule; it is one of ${words}`],
      [{ "a.b": 1 }, 'fields["a.b"] must be a rule of merging, it is a number'],
      [{ a: "set", b: null }, 'fields["b"] must be a rule of merging, it is null'],
      [{ a: {} }, 'fields["a"] must have a key, fields or a sequence'],
      [{ a: { keys: "id" } }, 'fields["a"].keys is not part of a rule: did you mean key?'],
      [
        { a: { key: "id", zzzzzz: 1 } },
        'fields["a"].zzzzzz is not part of a rule; it is one of key, fields, sequence'
      ],
      [{ a: { sequence: "set" } }, 'fields["a"].sequence must be "conflict" or "byContent"'],
      [{ a: { key: "" } }, 'fields["a"].key must be the name of a member, it is empty'],
      [
        { a: { sequence: "conflict", key: 1 } },
        'fields["a"].key must be the name of a member, it is a number'
      ],
      [{ a: { key: 1, fields: {} } }, 'fields["a"].key must be the name of a member, it is a number'],
      [
        { a: { fields: { b: { fields: 1 } } } },
        'fields["a"].fields["b"].fields must be an object of rules, it is a number'
      ],
      [
        { a: { key: "id", fields: { b: "x" } } },
        `fields["a"].fields["b"]: "x" is not a rule; it is one of ${words}`
      ],
      [
        { a: { key: "id" }, b: { fields: {} }, c: { sequence: "conflict" }, d: () => Option.none() },
        undefined
      ],
      [{ a: { sequence: "byContent" }, b: { key: "id", fields: { "*": "counter" } } }, undefined]
    ]
    for (const [fields, problem] of problems) assert.strictEqual(mergeRulesProblem({ fields }), problem)
  })

  it("that do not exist are named, with the one that was meant", () => {
    assert.match(mergeRulesProblem({ fields: { tags: "sets" } })!, /fields\["tags"\].*did you mean set/)
    assert.match(mergeRulesProblem({ fields: { rows: { keys: "id" } } })!, /did you mean key/)
    assert.match(mergeRulesProblem({ field: {} })!, /did you mean fields/)
    assert.match(mergeRulesProblem({ fields: { rows: { key: 1 } } })!, /key must be the name/)
  })
})
