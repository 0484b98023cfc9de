import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { parseSettings, plainSettings, type Settings } from "../../../src/domain/settings/Settings.js"
import {
  collectionsChanged,
  mergeSettings,
  noSetting,
  removedDerived,
  rulesAgreed,
  settingsOf,
  valuesOf
} from "../../../src/store/internal/merge/MergeSettings.js"
import { rulesOfLevels } from "../../../src/store/internal/write/RuleLevels.js"

const settings = (file: object): Settings =>
  Either.getOrThrow(parseSettings(new TextEncoder().encode(JSON.stringify({ format: 2, ...file })))).settings

const values = (file: object) => valuesOf(recorded(settings(file)))

const recorded = (found: Settings) => ({
  settings: found,
  recorded: true,
  unrecorded: false,
  frozen: undefined,
  mismatch: undefined
})

const full = {
  shardBy: "hash",
  shardDepth: 1,
  shardWidth: 3,
  indexes: {
    people: [
      "city",
      { fields: ["mail"], unique: true },
      { name: "town", fields: ["a", "b"], where: { on: 1 } }
    ],
    places: ["name"]
  },
  manifests: { people: ["name", "age"], places: [] },
  merge: { people: { tags: "set", "a.b c": { key: "id" } }, places: { n: "counter" } }
}

const merged = (base: object, ours: object, theirs: object) => {
  const found = mergeSettings(values(base), values(ours), values(theirs))
  return { ...found, settings: Either.getOrThrow(settingsOf(found.values)) }
}

describe("settings as values that change independently", () => {
  it("are the same settings again", () => {
    for (const file of [full, {}, { format: 1 }, { format: 1, indexes: { people: ["city"] } }]) {
      assert.deepStrictEqual(settingsOf(values(file)), Either.right(settings(file)))
    }
    assert.lengthOf([...values(full).keys()], 2 + 4 + 2 + 3)
  })

  it("are none where nothing is recorded", () => {
    const found = valuesOf({ ...recorded(plainSettings), recorded: false })
    assert.deepStrictEqual([...found], [])
    assert.deepStrictEqual(settingsOf(found), Either.right(plainSettings))
  })

  it("cannot be combined if the format lacks an index", () => {
    const mixed = new Map([...values(full), ["format", "1"]])
    assert.isTrue(Either.isLeft(settingsOf(mixed)))
  })
})

describe("the merge of settings", () => {
  it("keeps what each side changed, index by index, manifest by manifest and rule by rule", () => {
    const base = {
      indexes: { people: ["city"] },
      manifests: { people: ["name"] },
      merge: { people: { a: "set" } }
    }
    const ours = {
      indexes: { people: ["city", "age"] },
      manifests: {},
      merge: { people: { a: "set", b: "lines" } }
    }
    const theirs = {
      indexes: { places: ["name"] },
      manifests: { people: ["name"], places: ["x"] },
      merge: { people: { a: "counter" } }
    }
    for (const [one, other] of [
      [ours, theirs],
      [theirs, ours]
    ] as const) {
      const found = merged(base, one, other)
      assert.deepStrictEqual(found.conflicts, [])
      assert.deepStrictEqual(
        found.settings,
        settings({
          indexes: { people: ["age"], places: ["name"] },
          manifests: { places: ["x"] },
          merge: { people: { a: "counter", b: "lines" } }
        })
      )
    }
  })

  it("has a conflict where both changed one setting differently, and keeps our value", () => {
    const rule = (a: string | undefined) => ({ merge: { people: a === undefined ? {} : { a } } })
    for (const [base, ours, theirs] of [
      ["set", "lines", "counter"],
      [undefined, "lines", "counter"],
      ["set", undefined, "counter"],
      ["set", "lines", undefined]
    ]) {
      const { conflicts, settings: found } = merged(rule(base), rule(ours), rule(theirs))
      const text = (value: string | undefined) => value && JSON.stringify(value)
      assert.deepStrictEqual(conflicts, [
        { name: "merge people a", base: text(base), ours: text(ours), theirs: text(theirs) }
      ])
      assert.deepStrictEqual(found, settings(rule(ours)))
    }
    for (const same of ["lines", undefined]) {
      const { conflicts, settings: found } = merged(rule("set"), rule(same), rule(same))
      assert.deepStrictEqual([conflicts, found], [[], settings(rule(same))])
    }
  })

  it("shows no base where several merge bases are in conflict", () => {
    const at = (value: string) => new Map([["merge people a", value]])
    const { conflicts } = mergeSettings(at(noSetting), at('"set"'), at('"lines"'))
    assert.deepStrictEqual(conflicts, [
      { name: "merge people a", base: undefined, ours: '"set"', theirs: '"lines"' }
    ])
  })
})

describe("what a change of settings means for files and rules", () => {
  it("rebuilds the collections whose indexes or manifest changed, and no others", () => {
    const changed = (before: object, after: object) => collectionsChanged(values(before), values(after))
    assert.deepStrictEqual(changed({}, full), ["people", "places"])
    assert.deepStrictEqual(changed(full, {}), ["people", "places"])
    assert.deepStrictEqual(changed(full, { ...full, merge: {}, shardDepth: 2 }), [])
    assert.deepStrictEqual(changed(full, { ...full, manifests: { people: ["name"], places: [] } }), [
      "people"
    ])
    const indexes = { ...full.indexes, zoo: ["a"], bar: ["a"], places: [{ fields: ["x"], name: "name" }] }
    assert.deepStrictEqual(changed(full, { ...full, indexes }), ["bar", "places", "zoo"])
  })

  it("removes the files of indexes and manifests that are gone", () => {
    const removed = (before: object, after: object) => {
      const { indexes, manifests } = removedDerived(settings(before), settings(after))
      return [
        [...indexes].map(([collection, list]) => [collection, ...list.map(({ name }) => name)]),
        [...manifests.keys()]
      ]
    }
    assert.deepStrictEqual(removed(full, full), [[], []])
    assert.deepStrictEqual(removed({}, full), [[], []])
    assert.deepStrictEqual(removed(full, {}), [
      [
        ["people", "city", "mail", "town"],
        ["places", "name"]
      ],
      ["people", "places"]
    ])
    const fewer = { indexes: { people: ["city"], places: ["name"] }, manifests: { places: ["x"] } }
    assert.deepStrictEqual(removed(full, fewer), [[["people", "mail", "town"]], ["people"]])
  })

  it("merges documents by the rules on which both sides agree, whichever side is ours", () => {
    const base = { merge: { people: { a: "set", b: "set" } }, indexes: { people: ["city"] } }
    const ours = { merge: { people: { a: "lines", b: "set", c: "set" } } }
    const theirs = { merge: { people: { a: "counter", b: "counter" }, places: { d: "set" } } }
    for (const [one, other] of [
      [ours, theirs],
      [theirs, ours]
    ] as const) {
      assert.deepStrictEqual(
        rulesAgreed(values(base), values(one), values(other)),
        settings({ merge: { people: { b: "counter", c: "set" }, places: { d: "set" } } }).merge
      )
    }
    // A conflict of other settings, which leaves none that fit together, is not one of rules.
    const compound = values({
      indexes: { people: [{ fields: ["a", "b"] }] },
      merge: { people: { a: "set" } }
    })
    const plain = values({ format: 1, merge: { people: { a: "set" } } })
    assert.deepStrictEqual(
      rulesAgreed(new Map(), compound, plain),
      settings({ merge: { people: { a: "set" } } }).merge
    )
    // Rules that another program wrote so that no program reads them are none.
    const broken = new Map([["merge people a", '"no such rule"']])
    assert.deepStrictEqual([...rulesAgreed(broken, broken, broken)], [])
  })
})

describe("rules of several levels", () => {
  const set = "set" as const
  const lines = "lines" as const
  const counter = "counter" as const

  it("are those of the call, then of the definition, then of the schema", () => {
    const call = { fields: { a: set } }
    const definition = { fields: { a: lines, b: lines } }
    const schema = { fields: { a: counter, b: counter, c: counter } }
    assert.deepStrictEqual(rulesOfLevels(call, definition, schema), {
      fields: { a: set, b: lines, c: counter }
    })
    assert.deepStrictEqual(rulesOfLevels(call, undefined, schema), {
      fields: { a: set, b: counter, c: counter }
    })
    assert.deepStrictEqual(rulesOfLevels(undefined), {})
    const settle = () => "ours" as const
    assert.strictEqual(rulesOfLevels({ fields: {} }, { settle }).settle, settle)
    assert.strictEqual(rulesOfLevels({ settle }, { settle: () => "theirs" }).settle, settle)
  })

  it("are combined member by member, however their paths are written", () => {
    const dotted = { fields: { "a.b": set, "a.c.d": lines } }
    const nested = { fields: { a: { fields: { b: lines, e: counter, "c.f": counter } } } }
    const combined = { a: { fields: { b: set, c: { fields: { d: lines, f: counter } }, e: counter } } }
    assert.deepStrictEqual(rulesOfLevels(dotted, nested), { fields: combined } as never)
    assert.deepStrictEqual(rulesOfLevels(dotted), {
      fields: { a: { fields: { b: set, c: { fields: { d: lines } } } } }
    } as never)
    // The farther level with dots.
    assert.deepStrictEqual(rulesOfLevels({ fields: { a: { fields: { e: set } } } }, dotted), {
      fields: { a: { fields: { e: set, b: set, c: { fields: { d: lines } } } } }
    } as never)
  })

  it("of a member replace those of another kind", () => {
    const whole = (near: unknown, far: unknown) =>
      rulesOfLevels({ fields: { a: near as never } }, { fields: { a: far as never } }).fields!["a"] as unknown
    const fields = { fields: { b: set } }
    assert.strictEqual(whole(set, fields), set)
    assert.deepStrictEqual(whole(fields, set), fields)
    const keyed = { key: "id", fields: { b: set } }
    assert.deepStrictEqual(whole({ key: "id", fields: { c: lines } }, keyed), {
      key: "id",
      fields: { c: lines, b: set }
    })
    assert.deepStrictEqual(whole({ key: "id" }, keyed), keyed)
    assert.deepStrictEqual(whole(keyed, { key: "id" }), keyed)
    assert.deepStrictEqual(whole({ key: "sku" }, keyed), { key: "sku" })
    // Rules of the items' members, beside the key of another level.
    assert.deepStrictEqual(whole({ fields: { c: lines } }, keyed), {
      key: "id",
      fields: { c: lines, b: set }
    })
    const rule = () => undefined as never
    assert.strictEqual(whole(rule, fields), rule)
    assert.deepStrictEqual(whole({ sequence: "byContent" }, fields), { sequence: "byContent" })
  })

  it("of a member whose name every object inherits are its own", () => {
    const near = { fields: { constructor: { fields: { a: set } } } }
    assert.deepStrictEqual(rulesOfLevels(near as never, { fields: { b: lines } }), {
      fields: { b: lines, constructor: { fields: { a: set } } }
    } as never)
  })
})
