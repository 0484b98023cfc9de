import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import { emptyTree } from "../../../src/domain/identifiers/Oid.js"
import type { DocumentChange } from "../../../src/domain/indexes/IndexFile.js"
import {
  applyToManifest,
  emptyManifest,
  type ManifestFile,
  parseLosslessManifest,
  parseManifestFile,
  printManifest,
  projectedFields
} from "../../../src/domain/indexes/ManifestFile.js"
import type { LosslessObject } from "../../../src/domain/json/LosslessJson.js"

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

const printed = (manifest: ManifestFile<LosslessObject>) =>
  new TextDecoder().decode(Either.getOrThrow(printManifest(manifest, "c", "now", emptyTree)))

/** More changes than are made one by one. */
const some = (length: number) =>
  fc.array(
    fc
      .tuple(fc.nat(30), fc.option(fc.record({ a: fc.nat(3), b: fc.nat(3) })))
      .map(([n, document]): DocumentChange => ({ id: `d${n}`, document: document ?? undefined })),
    { maxLength: length, size: "max" }
  )

describe("a manifest", () => {
  it.prop(
    "is the same after changes as one that is made anew",
    [fc.array(fc.oneof(some(3), some(40)), { maxLength: 5 }), fc.constantFrom([], ["a"])],
    ([commits, fields]) => {
      const all = new Map<string, LosslessObject>()
      for (const { document, id } of commits.flat())
        if (document === undefined) all.delete(id)
        else all.set(id, document)
      const kept = commits.reduce<ManifestFile<LosslessObject>>(
        (manifest, changes) => applyToManifest(manifest, fields, changes),
        emptyManifest
      )
      const ids = [...all.keys()].sort()
      assert.deepStrictEqual(kept.ids, ids)
      assert.deepStrictEqual(
        Object.fromEntries(kept.documents),
        fields.length === 0 ? {} : Object.fromEntries([...all].map(([id, { a }]) => [id, { a: a! }]))
      )
      assert.isUndefined(kept.tree)
    }
  )

  it("has those fields of a document that it has, and that JSON can hold", () => {
    let deep: LosslessObject[string] = 1
    for (let level = 0; level < 2000; level++) deep = [deep]
    const document = { n: 1, t: "x", none: null, list: [1], nan: Number.NaN, inside: [Number.NaN], deep }
    const fields = ["t", "n", "absent", "none", "list", "nan", "inside", "deep", "toString"]
    const manifest = applyToManifest(emptyManifest, fields, [{ id: "d", document }])
    assert.deepStrictEqual([...manifest.documents], [["d", { t: "x", n: 1, none: null, list: [1] }]])
  })

  it("has no documents if no field is asked for any longer", () => {
    const before = applyToManifest(emptyManifest, ["n"], [{ id: "a", document: { n: 1 } }])
    const after = applyToManifest(before, [], [{ id: "b", document: { n: 2 } }])
    assert.deepStrictEqual([after.ids, [...after.documents]], [["a", "b"], []])
  })

  it("survives its file", () => {
    const manifest = applyToManifest(
      emptyManifest,
      ["n"],
      ["b", "a"].map((id) => ({ id, document: { n: id } }))
    )
    const file = printed(manifest)
    assert.deepStrictEqual(JSON.parse(file), {
      collection: "c",
      updated_at: "now",
      count: 2,
      ids: ["a", "b"],
      documents: { a: { n: "a" }, b: { n: "b" } },
      tree: emptyTree
    })
    const read = parseManifestFile(new TextEncoder().encode(file))!
    assert.deepStrictEqual(
      [read.ids, [...read.documents].sort(), read.tree],
      [["a", "b"], [...manifest.documents].sort(), emptyTree]
    )
  })

  it("that another program wrote is read as far as it is one", () => {
    for (const content of ["", "[]", "1", "{", "null"])
      assert.isUndefined(parseManifestFile(new TextEncoder().encode(content)), content)
    const empty = { ids: [], documents: new Map(), tree: undefined }
    assert.deepStrictEqual(emptyManifest, empty)
    for (const file of [{}, { ids: { a: 1 }, documents: ["a"], tree: 1 }, { ids: "a", documents: null }])
      assert.deepStrictEqual(parseManifestFile(bytes(file)), empty)
    const documents = { a: { n: 1 }, b: [1], c: null, d: 1 }
    assert.deepStrictEqual(parseManifestFile(bytes({ ids: ["b", "a", "b", 7], documents })), {
      ids: ["7", "a", "b"],
      documents: new Map([["a", { n: 1 }]]),
      tree: undefined
    })
  })

  it("keeps the spelling of numbers where it is written again", () => {
    const content = new TextEncoder().encode('{"ids": ["a"], "documents": {"a": {"n": 1.0}, "b": 1.0}}')
    const read = parseLosslessManifest(content)!
    assert.include(printed(read), '"n": 1.0')
    assert.deepStrictEqual([...read.documents.keys()], ["a"])
    assert.isUndefined(parseLosslessManifest(new TextEncoder().encode("[]")))
  })

  it("has the fields of all of its entries, sorted", () => {
    const documents = new Map<string, LosslessObject>([
      ["x", { b: 1, "\u{1f600}": 1 }],
      ["y", { a: 1, b: 2, "\uffff": 1 }]
    ])
    assert.deepStrictEqual(projectedFields({ ids: [], documents, tree: undefined }), [
      "a",
      "b",
      "\uffff",
      "\u{1f600}"
    ])
    assert.deepStrictEqual(projectedFields(emptyManifest), [])
  })
})
