import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import * as fc from "fast-check"
import type { ConflictError, UniqueViolation } from "../../../src/domain/errors/StoreError.js"
import type { IndexDefinition } from "../../../src/domain/indexes/IndexDefinition.js"
import type { DocumentChange } from "../../../src/domain/indexes/IndexFile.js"
import { parseLossless } from "../../../src/domain/json/LosslessJson.js"
import {
  duplicatesAmong,
  othersIn,
  type UniqueIndex,
  uniqueValues,
  violationError,
  violations,
  violationsAmong,
  violationsInOrder
} from "../../../src/store/internal/derived/Uniqueness.js"
import { indexRows } from "../../../src/store/internal/ordered-tree/IndexRows.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"

type Fields = { readonly [field: string]: unknown }

const mail: IndexDefinition = {
  name: "mail",
  fields: [{ path: "mail", order: "asc" }],
  unique: true,
  where: undefined
}
const pair: IndexDefinition = {
  name: "pair",
  fields: [
    { path: "mail", order: "asc" },
    { path: "town", order: "desc" }
  ],
  unique: true,
  where: new Map([["on", true]])
}

const parsed = (document: Fields | string) =>
  Either.getOrThrow(
    parseLossless(
      new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document))
    )
  )

const scalar = fc.constantFrom<unknown>("a", "b", "c", 1, "1", null)
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 2 }) }
)
const fields: fc.Arbitrary<Fields> = fc.record(
  { mail: value, town: fc.constantFrom("x", "y", null), on: fc.boolean() },
  { requiredKeys: [] }
)
const id = fc.integer({ min: 0, max: 7 }).map((n) => `d${n}`)

/** Documents, the changes of one commit, and changes that the stored index lacks because another program made them. */
const history = fc.record({
  stored: fc.dictionary(id, fields),
  others: fc.dictionary(id, fc.option(fields, { nil: undefined }), { maxKeys: 3 }),
  own: fc.dictionary(id, fc.option(fields, { nil: undefined }), { minKeys: 1, maxKeys: 4 })
})

/** The values of a document that nobody else may have, spelled out by the rules of the documentation. */
const valuesOf = ({ fields, where }: IndexDefinition, document: Fields | undefined): Set<string> => {
  if (document === undefined || (where !== undefined && document["on"] !== true)) return new Set()
  const lists = fields.map(({ path }): ReadonlyArray<unknown> => {
    const found = document[path]
    return (Array.isArray(found) ? found : [found]).filter((one) => one !== undefined && one !== null)
  })
  const tuples = lists.reduce<ReadonlyArray<ReadonlyArray<unknown>>>(
    (all, list) => all.flatMap((tuple) => list.map((one) => [...tuple, one])),
    [[]]
  )
  return new Set(tuples.map((tuple) => JSON.stringify(tuple)))
}

const shown = (found: ReadonlyArray<UniqueViolation>, { fields }: IndexDefinition) =>
  found
    .map(({ id, other, value }) => {
      const values = fields.length === 1 ? [value] : fields.map(({ path }) => (value as Fields)[path])
      return `${id} ${JSON.stringify(values)} ${other}`
    })
    .sort()

/** What is expected: each document that gains a value which another document has, with the first of these. */
const expected = (index: IndexDefinition, after: Map<string, Fields>, gains: (id: string) => Set<string>) => {
  const all = new Map<string, { readonly holders: Array<string>; readonly gaining: Array<string> }>()
  for (const [id, document] of after) {
    for (const value of valuesOf(index, document)) {
      const one = all.get(value) ?? { holders: [], gaining: [] }
      all.set(value, one)
      one.holders.push(id)
      if (gains(id).has(value)) one.gaining.push(id)
    }
  }
  return [...all]
    .flatMap(([value, { gaining, holders }]) => {
      const [first, second] = holders.sort()
      if (second === undefined || gaining.length === 0) return []
      const later = gaining.filter((id) => id !== first)
      return later.length === 0
        ? [`${first} ${value} ${second}`]
        : later.map((id) => `${id} ${value} ${first}`)
    })
    .sort()
}

/** The stored documents as an index. */
const indexOf = (definition: IndexDefinition, stored: ReadonlyMap<string, Fields>): UniqueIndex => ({
  collection: "people",
  definition,
  holders: (wanted, except) =>
    Effect.sync(() => {
      const found = new Map<string, string>()
      for (const [id, document] of [...stored].sort(([a], [b]) => (a < b ? -1 : 1))) {
        if (except.has(id)) continue
        for (const key of uniqueValues(definition, parsed(document)).keys()) {
          if (wanted.has(key) && !found.has(key)) found.set(key, id)
        }
      }
      return Option.some(found)
    })
})

const changesOf = (
  before: ReadonlyMap<string, Fields>,
  changed: { readonly [id: string]: Fields | undefined }
): ReadonlyArray<DocumentChange> =>
  Object.entries(changed).map(([id, document]) => {
    const was = before.get(id)
    return {
      id,
      document: document && parsed(document),
      before: was && (() => parsed(was))
    }
  })

const applied = (
  documents: ReadonlyMap<string, Fields>,
  changed: { readonly [id: string]: Fields | undefined }
) => {
  const after = new Map(documents)
  for (const [id, document] of Object.entries(changed)) {
    if (document === undefined) after.delete(id)
    else after.set(id, document)
  }
  return after
}

describe.each([
  ["one field", mail],
  ["two fields of some documents", pair]
])("a unique index of %s", (_name, index) => {
  it.effect("refuses the values that a commit gives to a document although another one has them", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(history, ({ others, own, stored }) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const start = new Map(Object.entries(stored))
              const before = applied(start, others)
              const after = applied(before, own)
              const changes = changesOf(before, own)
              const foreign = changesOf(start, others).filter(({ id }) => !Object.hasOwn(own, id))
              const unique = indexOf(index, start)
              const wanted = expected(index, after, (id) => {
                if (!Object.hasOwn(own, id)) return new Set()
                const had = valuesOf(index, before.get(id))
                return new Set([...valuesOf(index, after.get(id))].filter((one) => !had.has(one)))
              })
              const found = yield* violations(unique, changes, [...changes, ...foreign])
              assert.deepStrictEqual(shown(Option.getOrThrow(found), index), wanted)

              // A rebuild finds the same, whether it reads documents or the rows in order.
              const all = Array.from(after, ([id, document]) => ({ id, document: parsed(document) }))
              const documents = [...all, { id: "removed", document: undefined }]
              assert.deepStrictEqual(shown(yield* violationsAmong(unique, documents, changes), index), wanted)
              const everything = expected(index, after, (id) => valuesOf(index, after.get(id)))
              const rebuilt = yield* violationsAmong(unique, documents, undefined)
              assert.deepStrictEqual(shown(rebuilt, index), everything)
              const rows = all
                .flatMap(({ document, id }) =>
                  index.where === undefined || document["on"] === true
                    ? [...indexRows(index.fields, id, (path) => document[path])]
                    : []
                )
                .sort(([a], [b]) => (a < b ? -1 : 1))
              for (const [given, result] of [
                [changes, wanted],
                [undefined, everything]
              ] as const) {
                const ordered = violationsInOrder(unique, given)
                for (const [, row] of rows) ordered.add(row)
                assert.deepStrictEqual(shown(ordered.end(), index), result)
              }

              const doubles = yield* duplicatesAmong(index, new Map(all.map((one) => [one.id, one.document])))
              const holders = (value: string) =>
                [...after].filter(([, one]) => valuesOf(index, one).has(value)).map(([id]) => id)
              assert.deepStrictEqual(
                doubles
                  .map(({ ids, value }) => {
                    const values =
                      index.fields.length === 1
                        ? [value]
                        : index.fields.map(({ path }) => (value as Fields)[path])
                    assert.deepStrictEqual(ids, holders(JSON.stringify(values)).sort())
                    return JSON.stringify(values)
                  })
                  .sort(),
                [...new Set([...after.values()].flatMap((one) => [...valuesOf(index, one)]))]
                  .filter((value) => holders(value).length > 1)
                  .sort()
              )
            })
          )
        ),
        { seed: 19, numRuns: 80 }
      )
    )
  )
})

describe("the values of a unique index", () => {
  const keys = (index: IndexDefinition, text: string) => [...uniqueValues(index, parsed(text)).keys()]

  it("are equal for equal numbers, and differ for a number and a text", () => {
    assert.deepStrictEqual(keys(mail, '{"mail": 1}'), keys(mail, '{"mail": 1.0}'))
    assert.notDeepEqual(keys(mail, '{"mail": 1}'), keys(mail, '{"mail": "1"}'))
  })

  it("are none for what is missing, null, an empty list or a number that JavaScript cannot represent", () => {
    for (const text of ["{}", '{"mail": null}', '{"mail": []}', '{"mail": 1e400}', '{"mail": [null]}']) {
      assert.deepStrictEqual(keys(mail, text), [], text)
    }
    assert.deepStrictEqual(keys(pair, '{"mail": "a", "on": true}'), [])
    assert.deepStrictEqual(keys(pair, '{"mail": "a", "town": "x", "on": false}'), [])
    for (const text of [
      '{"mail": ""}',
      '{"mail": 0}',
      '{"mail": false}',
      '{"mail": [["a"]]}',
      '{"mail": {}}'
    ]) {
      assert.lengthOf(keys(mail, text), 1, text)
    }
    assert.lengthOf(keys(pair, '{"mail": ["a", "b", "a"], "town": "x", "on": true}'), 2)
  })

  it.effect("are not known if the stored index is damaged, unless a commit gives none", () =>
    Effect.gen(function* () {
      const damaged: UniqueIndex = {
        collection: "people",
        definition: mail,
        holders: () => Effect.succeedNone
      }
      const change = (document: Fields): ReadonlyArray<DocumentChange> => [
        { id: "a", document: parsed(document) }
      ]
      const gains = change({ mail: "a" })
      assert.isTrue(Option.isNone(yield* violations(damaged, gains, gains)))
      const free = change({ town: "x" })
      assert.deepStrictEqual(yield* violations(damaged, free, free), Option.some([]))
    })
  )
})

it.effect("violations come in the order of the ids", () =>
  Effect.gen(function* () {
    const documents = ["c", "a", "d", "b"].map((id) => ({ id, document: parsed({ mail: "x" }) }))
    const found = yield* violationsAmong(indexOf(mail, new Map()), documents, undefined)
    assert.deepStrictEqual(
      found.map(({ id, other }) => `${id} ${other}`),
      ["b a", "c a", "d a"]
    )
  })
)

describe("the error for shared values", () => {
  const found = (count: number): ReadonlyArray<UniqueViolation> =>
    Array.from({ length: count }, (_, n) => ({
      collection: "people",
      index: "mail",
      value: "a",
      id: `p${n + 1}`,
      other: n < 2 ? "p0" : `o${n}`
    }))
  const errorOf = (count: number, isReindex = false): ConflictError =>
    violationError("Collection.insert", found(count), isReindex, [])

  it("describes three violations, counts the others and lists twenty", () => {
    const three = errorOf(3)
    assert.strictEqual(
      three.message,
      ["p1", "p2", "p3"]
        .map(
          (id, n) =>
            `people/${id} would have the value "a" of the unique index mail, which people/${n < 2 ? "p0" : "o2"} has`
        )
        .join("; ")
    )
    assert.deepStrictEqual([three.collection, three.id, three.reason], ["people", "p1", "UniqueViolation"])
    assert.match(errorOf(4).message, /, which people\/o2 has; and 1 more$/)
    assert.lengthOf(errorOf(21).violations!, 20)
    assert.lengthOf(errorOf(20).violations!, 20)
  })

  it("says what to do about documents that are there, and about a value that is written", () => {
    assert.match(errorOf(1, true).hint!, /change or delete all but one of the documents/)
    assert.match(errorOf(1).hint!, /write another value/)
  })

  it("names each other document once", () => {
    assert.deepStrictEqual(
      othersIn(found(4)).map(({ collection, id }) => `${collection}/${id}`),
      ["people/p0", "people/o2", "people/o3"]
    )
    assert.lengthOf(othersIn(found(30)), 19)
  })
})

describe.each([1, 2] as const)("a dry run of an import into unique indexes of format %i", (format) => {
  const indexes = { people: [{ fields: ["mail"], unique: true }, "town"] } as const

  it.effect(
    "refuses a row exactly if its chunk is refused when it is imported, as if the others were there",
    () =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            fc.dictionary(id, fields, { maxKeys: 3 }),
            fc.dictionary(id, fields, { minKeys: 1, maxKeys: 4 }),
            fc.option(fc.tuple(id, fields), { nil: undefined }),
            fc.integer({ min: 1, max: 3 }),
            (stored, rows, pushed, chunkSize) =>
              Effect.runPromise(
                Effect.gen(function* () {
                  const remote = yield* GitRemote
                  const people = (yield* Store.make({ format, indexes })).collection("people")
                  for (const [id, document] of Object.entries(stored)) {
                    yield* Effect.ignore(people.upsert(id, document as never))
                  }
                  if (pushed !== undefined) {
                    const content = new TextEncoder().encode(JSON.stringify(pushed[1]))
                    yield* remote.commit("main", yield* remote.head("main"), {
                      message: "by another program",
                      changes: [{ _tag: "Put", path: `data/people/${pushed[0]}.json`, content }]
                    })
                  }
                  const records = Object.entries(rows).map(([_id, row]) => ({ _id, ...row }))
                  const refused: Array<unknown> = []
                  yield* people.importRecords(records, {
                    chunkSize,
                    dryRun: true,
                    onRow: ({ action, id, reason }) =>
                      Effect.sync(() => {
                        if (action === "refuse") refused.push(`${id}: ${reason}`)
                      })
                  })
                  const imported = yield* Effect.either(people.importRecords(records, { chunkSize }))
                  assert.strictEqual(
                    refused.length > 0,
                    Either.isLeft(imported),
                    JSON.stringify({ stored, rows, pushed, chunkSize, refused, imported })
                  )
                }).pipe(Effect.provide(Layer.fresh(Memory.layer())), Effect.scoped)
              )
          ),
          { seed: 19, numRuns: 10 }
        )
      )
  )

  it.effect("lets a document keep a value that another one has, too, and refuses it for a third", () =>
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const people = (yield* Store.make({ format, indexes })).collection("people")
      yield* people.insert({ mail: "a" }, { id: "ada" })
      const content = new TextEncoder().encode('{"mail": "a"}')
      yield* remote.commit("main", yield* remote.head("main"), {
        message: "by another program",
        changes: [{ _tag: "Put", path: "data/people/bob.json", content }]
      })
      const said: Array<string> = []
      const rows = ["ada a", "bob a", "cleo a", "cleo b", "cleo a", "dan c", "dan d", "eve c"].map((row) => {
        const [_id, mail] = row.split(" ")
        return { _id, mail, town: "x" }
      })
      yield* people.importRecords(rows, {
        chunkSize: 1,
        dryRun: true,
        onRow: ({ action, id }) => Effect.sync(() => said.push(`${id} ${action}`))
      })
      assert.deepStrictEqual(said, [
        "ada replace",
        "bob replace",
        "cleo refuse",
        "cleo replace",
        "cleo refuse",
        "dan insert",
        "dan replace",
        "eve insert"
      ])
    }).pipe(Effect.provide(Layer.fresh(Memory.layer())))
  )
})
