import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Random, TestClock } from "effect"
import { collectionNameProblem, fieldNameProblem } from "../../src/domain/identifiers/CollectionName.js"
import { idProblem, isDocumentId } from "../../src/domain/identifiers/DocumentId.js"
import { emptyTree } from "../../src/domain/identifiers/Oid.js"
import { isRepositoryName, repositoryNameProblem } from "../../src/domain/identifiers/RepositoryName.js"
import * as Ulid from "../../src/domain/identifiers/Ulid.js"
import {
  decodeIndexDefinition,
  definitionText,
  indexHolds,
  indexPaths,
  plainIndex,
  sameIndex
} from "../../src/domain/indexes/IndexDefinition.js"
import { applyToIndex, emptyIndex, parseIndex, printIndex } from "../../src/domain/indexes/IndexFile.js"
import { indexKeyOf, indexKeysOf, lookupKeys } from "../../src/domain/indexes/IndexKey.js"
import { parseManifestFile } from "../../src/domain/indexes/ManifestFile.js"
import { fieldPathProblem, pickPaths, valueAt } from "../../src/domain/json/FieldPath.js"
import type { Json } from "../../src/domain/json/Json.js"
import { equalJson, fieldMatches } from "../../src/domain/json/JsonEquality.js"
import type { LosslessObject } from "../../src/domain/json/LosslessJson.js"
import { LosslessNumber } from "../../src/domain/json/NumberText.js"
import {
  isPlainSettings,
  parseSettings,
  plainSettings,
  printSettings,
  type RequestedSettings,
  readSettings,
  sameLayout,
  settingsDifferences,
  unsupportedIndex
} from "../../src/domain/settings/Settings.js"
import {
  documentPath,
  idAt,
  locate,
  placeOf,
  placeProblem,
  rootProblem
} from "../../src/store/DocumentPath.js"

describe("ids", () => {
  it("are letters, digits, dots, dashes and underscores, and start with a letter or digit", () => {
    for (const id of ["a", "A1", "a.b-c_d", "0", "x".repeat(128)]) assert.isTrue(isDocumentId(id), id)
    for (const id of [
      "",
      "a\n",
      "\na",
      "-a",
      ".a",
      "_a",
      "a/b",
      "a\\b",
      "a..b",
      "é",
      "x".repeat(129),
      "a b",
      1,
      null
    ]) {
      assert.isFalse(isDocumentId(id), String(id))
    }
    assert.isUndefined(collectionNameProblem("people"))
    assert.match(collectionNameProblem("_index")!, /collection/)
    assert.isTrue(isRepositoryName("owner/na.me"))
    for (const name of ["owner", "a/b/c", "/b", "a/", "../b", "a/..", "a b/c", "a/b.git"]) {
      assert.isFalse(isRepositoryName(name), name)
    }
  })

  it("that are refused are refused in words", () => {
    const letters = "an id is made of letters, digits, '.', '_' and '-', and starts with a letter or digit"
    for (const [id, problem] of [
      [1, "an id is text"],
      ["", "an id is not empty"],
      ["x".repeat(129), "an id has at most 128 characters"],
      ["a/b", "an id holds no slash or backslash"],
      ["a\\b", "an id holds no slash or backslash"],
      ["_a", letters],
      ["a b", letters],
      ["a..b", "an id does not hold '..'"],
      ["a.b", undefined]
    ] as const) {
      assert.strictEqual(idProblem(id), problem)
      assert.strictEqual(collectionNameProblem(id), problem?.replace("an id", "a collection's name"))
      assert.strictEqual(fieldNameProblem(id), problem?.replace("an id", "an indexed field's name"))
    }
    const form = "a repository's name has the form <owner>/<name>"
    const made = "owner and name are made of letters, digits, '.', '_' and '-', at most 100 of them"
    const dots = "owner and name are not '.' or '..'"
    const ending = "a repository's name does not end in .git or .lock"
    for (const [name, problem] of [
      [null, "a repository's name is text, <owner>/<name>"],
      ["owner", form],
      ["a/b/c", form],
      ["/b", made],
      ["a/", made],
      ["a b/c", made],
      ["a/b\n", made],
      ["\na/b", made],
      [`a/${"b".repeat(101)}`, made],
      [`a/${"b".repeat(100)}`, undefined],
      ["./b", dots],
      ["a/..", dots],
      ["a/...", undefined],
      ["a/.b", undefined],
      ["a/b.", undefined],
      ["a/b.git", ending],
      ["a/b.LOCK", ending],
      ["a.git/b", undefined],
      ["a/b.github", undefined],
      ["a/bgit", undefined]
    ] as const)
      assert.strictEqual(repositoryNameProblem(name), problem, String(name))
  })

  it.effect("rise although all of their random digits are the last ones", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_469_918_176_385)
      const most = 2 ** 20 - 1
      for (const [random, first, second] of [
        [[0, 0, 0, 0], "01ARYZ6S410000000000000000", "01ARYZ6S410000000000000001"],
        [[1, 2, 3, most], "01ARYZ6S41000100020003ZZZZ", "01ARYZ6S410001000200040000"],
        [[1, 2, most, most], "01ARYZ6S4100010002ZZZZZZZZ", "01ARYZ6S410001000300000000"],
        [[1, most, most, most], "01ARYZ6S410001ZZZZZZZZZZZZ", "01ARYZ6S410002000000000000"],
        [[most, most, most, most], "01ARYZ6S41ZZZZZZZZZZZZZZZZ", "01ARYZ6S420000000000000000"]
      ] as const) {
        const ids = Effect.flatMap(Ulid.generator, (next) => Effect.replicateEffect(next, 2))
        assert.deepStrictEqual(yield* Effect.withRandom(ids, Random.fixed([...random])), [first, second])
      }
    })
  )

  it.effect("have the time of the clock, also in its first millisecond", () =>
    Effect.gen(function* () {
      const next = yield* Ulid.generator
      for (const [time, digits] of [
        [0, "0000000000"],
        [1, "0000000001"],
        [32, "0000000010"]
      ] as const) {
        yield* TestClock.setTime(time)
        const id = yield* next
        assert.strictEqual(id.slice(0, 10), digits)
        assert.strictEqual(Ulid.timeOf(id), time)
      }
    })
  )

  it("are ULIDs in the upper and the lower case", () => {
    const id = "01ARYZ6S41TSV4RRFFQ69G5FAV"
    assert.strictEqual(Ulid.timeOf(id.toLowerCase()), Ulid.timeOf(id))
    assert.strictEqual(Ulid.timeOf("7ZZZZZZZZZ0000000000000000"), 2 ** 48 - 1)
    for (const ulid of [id, id.toLowerCase(), `7${id.slice(1)}`]) assert.isTrue(Ulid.isUlid(ulid), ulid)
    for (const other of [
      `8${id.slice(1)}`,
      id.slice(1),
      `${id}0`,
      `0${id}`,
      `${id.slice(0, 25)}U`,
      `${id}\n`
    ])
      assert.isFalse(Ulid.isUlid(other), other)
  })

  it.effect("rise strictly inside one millisecond and when the clock steps back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_469_918_176_385)
      const next = yield* Ulid.generator
      const ids = yield* Effect.replicateEffect(next, 2000)
      yield* TestClock.setTime(1_469_918_176_000)
      ids.push(yield* next)
      yield* TestClock.setTime(1_469_918_176_386)
      ids.push(yield* next)
      yield* TestClock.setTime(1_469_918_176_386.4)
      ids.push(yield* next)
      assert.deepStrictEqual([...ids].sort(), ids)
      assert.strictEqual(new Set(ids).size, ids.length)
      for (const id of ids) {
        assert.match(id, /^[0-9A-HJKMNP-TV-Z]{26}$/)
        assert.isTrue(isDocumentId(id) && Ulid.isUlid(id))
      }
      assert.strictEqual(ids[0]!.slice(0, 10), "01ARYZ6S41")
      assert.strictEqual(Ulid.timeOf(ids[0]!), 1_469_918_176_385)
    })
  )
})

describe("paths", () => {
  const id = FastCheck.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,30}$/).filter(isDocumentId)
  const layout = FastCheck.record({
    shardBy: FastCheck.constantFrom("leading" as const, "hash" as const),
    shardDepth: FastCheck.integer({ min: 0, max: 3 }),
    shardWidth: FastCheck.integer({ min: 1, max: 4 })
  })
  const root = FastCheck.constantFrom("", "data", "a/b")

  it("lead back to the id", () =>
    FastCheck.assert(
      FastCheck.property(root, layout, id, (root, layout, id) => {
        FastCheck.pre(placeProblem(layout, id) === undefined)
        assert.strictEqual(idAt(layout, placeOf(layout, id)), id)
        assert.deepStrictEqual(locate(root, layout, documentPath(root, layout, "c", id)), {
          collection: "c",
          id
        })
      })
    ))

  it("are as the document says", () => {
    const leading = { shardBy: "leading", shardDepth: 2, shardWidth: 2 } as const
    assert.strictEqual(documentPath("data", leading, "c", "abcdef"), "data/c/ab/cd/abcdef.json")
    assert.strictEqual(documentPath("", leading, "c", "x"), "c/x/x.json")
    // printf %s abcdef | sha256sum
    assert.strictEqual(
      documentPath("a/b", { ...leading, shardBy: "hash", shardDepth: 1 }, "c", "abcdef"),
      "a/b/c/be/abcdef.json"
    )
    assert.isDefined(placeProblem({ ...leading, shardWidth: 1 }, "a.b"))
    assert.isDefined(placeProblem({ ...leading, shardWidth: 4 }, "abcd.GIT"))
    for (const root of ["a//b", "../a", "a/./b", ".git", "a\0"]) assert.isDefined(rootProblem(root))
    assert.isUndefined(idAt(leading, "ab/xx/abcdef.json"))
    assert.isUndefined(idAt(plainSettings, "sub/a.json"))
    assert.isUndefined(idAt(plainSettings, "a.txt"))
  })
})

describe("settings", () => {
  it("survive their file", () => {
    const given = Either.getOrThrow(
      readSettings({ shardBy: "hash", shardDepth: 1, indexes: { constructor: ["b", "a"] }, manifests: ["x"] })
    )
    const settings = { ...plainSettings, ...given }
    const read = Either.getOrThrow(parseSettings(printSettings(settings)))
    assert.deepStrictEqual(read, { format: 1, settings })
    assert.deepStrictEqual(settingsDifferences(given, read.settings), [])
    assert.deepStrictEqual(settingsDifferences({ shardDepth: 0, indexes: new Map() }, read.settings), [
      "shardDepth",
      "indexes"
    ])
    const newer = Either.getOrThrow(parseSettings(Buffer.from('{"format": 3, "shardDepth": 1}')))
    assert.deepStrictEqual(newer, { format: 3, settings: { ...plainSettings, format: 2, shardDepth: 1 } })
  })

  const file = (settings: RequestedSettings) =>
    JSON.parse(Buffer.from(printSettings({ ...plainSettings, ...settings })).toString())

  it("are those that are given, the most and the least too", () => {
    const nothing = { format: undefined, indexes: null, manifests: null, merge: null }
    assert.deepStrictEqual(readSettings(nothing), Either.right({}))
    for (const given of [
      { format: 2, shardBy: "hash", shardDepth: 8, shardWidth: 8 },
      { format: 1, shardBy: "leading", shardDepth: 0, shardWidth: 1 }
    ]) {
      assert.deepStrictEqual<unknown>(readSettings(given), Either.right(given))
    }
    const lists = {
      indexes: { a: [] },
      manifests: { a: ["y", "x", "y"], b: [] },
      merge: { a: { n: "counter" } }
    }
    const read = Either.getOrThrow(readSettings({ ...lists, merge: { ...lists.merge, b: {} } }))
    assert.deepStrictEqual(file(read), {
      ...{ format: 1, shardBy: "leading", shardDepth: 0, shardWidth: 2 },
      ...{ ...lists, manifests: { a: ["x", "y"], b: [] } }
    })
    assert.notProperty(file({}), "merge")
    const named = Either.getOrThrow(readSettings({ manifests: ["b", "a"] }))
    assert.deepStrictEqual(file(named).manifests, { a: [], b: [] })
  })

  it("that are wrong are named, all of them", () => {
    const cases: ReadonlyArray<readonly [{ readonly [name: string]: unknown }, ...Array<string>]> = [
      [{ format: 3 }, "format is 1 or 2"],
      [{ shardBy: "id" }, 'shardBy is "leading" or "hash"'],
      [{ shardDepth: -1 }, "shardDepth is a whole number from 0 to 8"],
      [{ shardDepth: 9 }, "shardDepth is a whole number from 0 to 8"],
      [{ shardDepth: "1" }, "shardDepth is a whole number from 0 to 8"],
      [{ shardWidth: 0 }, "shardWidth is a whole number from 1 to 8"],
      [{ shardWidth: 1.5 }, "shardWidth is a whole number from 1 to 8"],
      [{ indexes: ["a"] }, 'indexes maps collections to lists of fields, such as { people: ["city"] }'],
      [{ manifests: "a" }, 'manifests maps collections to lists of fields, such as { people: ["city"] }'],
      [{ indexes: { a: "city" } }, "indexes.a is a list of fields"],
      [{ indexes: { _x: ["a"] } }, `indexes._x ${collectionNameProblem("_x")}`],
      [{ manifests: [5] }, "manifests a collection's name is text"],
      [
        { manifests: { a: ["b", ""], c: [5] } },
        "manifests.a is the name of a field",
        "manifests.c is the name of a field"
      ],
      [{ merge: [] }, 'merge maps collections to rules of merging, such as { people: { tags: "set" } }'],
      [{ merge: 5 }, 'merge maps collections to rules of merging, such as { people: { tags: "set" } }'],
      [
        { merge: { _x: {}, a: { b: "?" } } },
        `merge._x ${collectionNameProblem("_x")}`,
        'merge.a has rules by path, as docs/merging.md lists them, without functions: { tags: "set" }'
      ]
    ]
    for (const [given, ...words] of cases) {
      const problems = Either.getOrThrow(Either.flip(readSettings(given)))
      assert.deepStrictEqual(
        problems.map(({ message, path }) => `${path} ${message}`),
        words
      )
      const content = Buffer.from(JSON.stringify({ format: 2, ...given }))
      if (given["format"] === undefined) {
        assert.deepStrictEqual(parseSettings(content), Either.left(words.join("; ")))
      }
    }
    for (const [format, words] of [
      [undefined, "has no format number"],
      ["1", "has no format number"],
      [0, "has no format number"],
      [1.5, "has no format number"],
      [3, "is of format 3, newer than this program knows"]
    ] as const) {
      const content = Buffer.from(JSON.stringify({ format, shardBy: "id" }))
      assert.deepStrictEqual(parseSettings(content), Either.left(words))
    }
  })

  it("differ where they were requested otherwise", () => {
    const a = {
      ...plainSettings,
      ...Either.getOrThrow(readSettings({ indexes: { a: ["x", "y"], b: ["x"] } }))
    }
    const sharded = { ...plainSettings, shardDepth: 1 }
    const merging = Either.getOrThrow(readSettings({ merge: { a: { n: "counter", t: "set" } } }))
    const cases: ReadonlyArray<readonly [Parameters<typeof readSettings>[0], typeof a, ...Array<string>]> = [
      [{}, a],
      [{ format: 1, shardBy: "leading", shardDepth: 0, shardWidth: 2 }, a],
      [{ format: 2, shardBy: "hash", shardWidth: 3 }, a, "format"],
      [{ shardBy: "hash", shardWidth: 3 }, sharded, "shardBy", "shardWidth"],
      [{ shardBy: "leading", shardWidth: 2 }, sharded],
      [{ indexes: { b: ["x"], a: ["y", "x"] } }, a],
      [{ indexes: { a: ["x", "y"] } }, a, "indexes"],
      [{ indexes: { a: ["x", "y"], b: ["y"] } }, a, "indexes"],
      [{ indexes: { a: ["x"], b: ["x"] } }, a, "indexes"],
      [{ indexes: { a: ["x", "y"], c: ["x"] } }, a, "indexes"],
      [{ manifests: { a: ["x"] } }, { ...a, manifests: new Map([["a", ["x"]]]) }],
      [{ manifests: { a: ["y"] } }, { ...a, manifests: new Map([["a", ["x"]]]) }, "manifests"],
      [{ merge: { a: { t: "set", n: "counter" } } }, { ...plainSettings, ...merging }],
      [{ merge: { a: { t: "set" } } }, { ...plainSettings, ...merging }, "merge"]
    ]
    for (const [given, actual, ...names] of cases) {
      const requested = Either.getOrThrow(readSettings(given))
      assert.deepStrictEqual(settingsDifferences(requested, actual), names, JSON.stringify(given))
    }
    assert.isTrue(isPlainSettings({ ...plainSettings, shardBy: "hash", shardWidth: 3 }))
    for (const other of [
      { format: 2 as const },
      { shardDepth: 1 },
      { indexes: a.indexes },
      { manifests: new Map([["a", []]]) },
      merging
    ]) {
      assert.isFalse(isPlainSettings({ ...plainSettings, ...other }))
    }
    assert.isTrue(sameLayout(plainSettings, { shardBy: "hash", shardDepth: 0, shardWidth: 3 }))
    assert.isTrue(sameLayout(sharded, { ...sharded }))
    for (const other of [{ shardDepth: 2 }, { shardBy: "hash" as const }, { shardWidth: 3 }]) {
      assert.isFalse(sameLayout(sharded, { ...sharded, ...other }))
    }
  })

  const indexesOf = (people: unknown, format = 2) => readSettings({ format, indexes: { people } })

  it("hold definitions of indexes, and a text where that says all", () => {
    const given = Either.getOrThrow(
      indexesOf([
        { fields: ["city", { field: "price", order: "desc" }] },
        { name: "mail", fields: ["contact.mail"], unique: true, where: { state: "active", "a.b": null } },
        { fields: [{ field: "city", order: "asc" }], name: "city", unique: false },
        "city"
      ])
    )
    const settings = { ...plainSettings, ...given }
    const file = JSON.parse(Buffer.from(printSettings(settings)).toString())
    assert.deepStrictEqual(file.indexes.people, [
      "city",
      { name: "city_price", fields: ["city", { field: "price", order: "desc" }] },
      { name: "mail", fields: ["contact.mail"], unique: true, where: { "a.b": null, state: "active" } }
    ])
    assert.deepStrictEqual(Either.getOrThrow(parseSettings(printSettings(settings))).settings, settings)
    const others = Either.getOrThrow(indexesOf([...file.indexes.people].reverse()))
    assert.deepStrictEqual(settingsDifferences(others, settings), [])
    const unlike = Either.getOrThrow(indexesOf([...file.indexes.people.slice(0, 2), "mail"]))
    assert.deepStrictEqual(settingsDifferences(unlike, settings), ["indexes"])
  })

  const numbered = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, n]))

  it("name what is wrong with a definition", () => {
    const cases: ReadonlyArray<readonly [unknown, RegExp]> = [
      ["_x", /an indexed field's name is made of letters/],
      [new Map(), /an indexed field's name is text/],
      [{ field: "city" }, /"field" is not a member of an index: use name, fields/],
      [{ fields: [] }, /fields is a list of at least one field/],
      [{ fields: ["a", "a"] }, /fields names a twice/],
      [{ fields: Array.from({ length: 17 }, (_, n) => `f${n}`) }, /at most 16 fields/],
      [{ fields: [{ field: "a", order: "down" }] }, /the order of a field is "asc" or "desc"/],
      [{ fields: [{ field: "a", desc: true }] }, /"desc" is not a member of a field: use field and order/],
      [{ fields: [null] }, /the path of a field is text/],
      [{ fields: ["_id"] }, /_id is part of every index/],
      [{ fields: ["two words"] }, /: give the index a name/],
      [{ fields: ["a"], name: "../x" }, /the name of an index holds no slash or backslash$/],
      [{ fields: ["a"], unique: 1 }, /unique is true or false/],
      [{ fields: ["a"], where: {} }, /where gives 1 to 16 values/],
      [{ fields: ["a"], where: 5 }, /where gives 1 to 16 values/],
      [{ fields: ["a"], where: numbered(17) }, /where gives 1 to 16 values/],
      [{ fields: ["a"], where: { "": 1 } }, /where: the path of a field is not empty/],
      [{ fields: ["a"], where: { b: Number.NaN } }, /where: the value of b is not JSON/],
      [
        { fields: ["a"], where: { b: "x".repeat(1023) } },
        /where: the value of b has more than 1024 characters/
      ]
    ]
    const largest = {
      name: "most",
      fields: Object.keys(numbered(16)),
      where: { ...numbered(15), b: "x".repeat(1022) }
    }
    assert.isTrue(Either.isRight(indexesOf([largest])))
    for (const [index, message] of cases) {
      const [problem] = Either.getOrThrow(Either.flip(indexesOf([index])))
      assert.strictEqual(problem?.path, "indexes.people")
      assert.match(problem!.message, message)
    }
    const twins = Either.getOrThrow(Either.flip(indexesOf(["a", { name: "a", fields: ["b"] }])))
    assert.match(twins[0]!.message, /two indexes have the name a/)
    const file = { format: 1, indexes: { people: [{ fields: ["a", "b"] }] } }
    assert.match(
      Either.getOrThrow(Either.flip(parseSettings(Buffer.from(JSON.stringify(file))))),
      /format 1 cannot hold the index a_b of people.*: format 2 can/
    )
  })

  it("of format 1 hold an index of one ascending field of all documents", () => {
    const unsupported = (index: unknown, format: 1 | 2 = 1) => {
      const { indexes } = Either.getOrThrow(indexesOf([index]))
      return unsupportedIndex({ format, indexes: indexes! })
    }
    for (const index of ["a", "a.b", { fields: ["a"], unique: true }, { fields: ["a"], name: "b" }]) {
      assert.isUndefined(unsupported(index))
    }
    const one = "one file holds one ascending field of all documents"
    const cases: ReadonlyArray<readonly [object, string]> = [
      [{ fields: ["a", "b"] }, one],
      [{ fields: [{ field: "a", order: "desc" }] }, one],
      [{ fields: ["a"], where: { b: 1 } }, one],
      [{ fields: ["a.b"], unique: true }, `${one}, which is at the top level if it is unique`]
    ]
    for (const [index, reason] of cases) {
      assert.deepStrictEqual(unsupported({ ...index, name: "n" }), {
        collection: "people",
        path: "indexes.people",
        message: `format 1 cannot hold the index n of people: ${reason}`
      })
      assert.isUndefined(unsupported(index, 2))
    }
  })
})

describe("the definition of an index", () => {
  const index = (given: unknown) => Either.getOrThrow(decodeIndexDefinition(given))
  const partialIndex = () => index({ fields: ["city"], where: { tags: "new", "a.b": null } })

  it("is equal to another in all of its parts, whatever their order", () => {
    const partial = partialIndex()
    const same = { where: { "a.b": null, tags: "new" }, unique: false, fields: [{ field: "city" }] }
    assert.isTrue(sameIndex(partial, index(same)))
    assert.deepStrictEqual([...partial.where!.keys()], ["a.b", "tags"])
    for (const other of [
      { ...same, unique: true },
      { ...same, name: "other" },
      { ...same, fields: [{ field: "city", order: "desc" }] },
      { ...same, fields: ["city", "age"] },
      { ...same, where: { tags: "new" } },
      "city"
    ]) {
      assert.isFalse(sameIndex(partial, index(other)))
    }
    assert.isFalse(sameIndex(plainIndex("city"), index({ fields: ["city"], unique: true })))
    assert.isFalse(sameIndex(plainIndex("city"), index({ fields: ["city"], name: "town" })))
    assert.isFalse(sameIndex(plainIndex("city"), index({ fields: [{ field: "city", order: "desc" }] })))
  })

  it("has a text of the parts that its rows depend on, unless it is one field's name", () => {
    assert.isUndefined(definitionText(plainIndex("city")))
    assert.isUndefined(definitionText(index({ fields: ["city"], unique: true })))
    assert.strictEqual(definitionText(index({ fields: ["city"], name: "town" })), '{"fields": ["city"]}')
    const rest = { fields: ["city", { field: "age", order: "desc" }], where: { tags: "new" } }
    const text = '{"fields": ["city", {"field": "age", "order": "desc"}], "where": {"tags": "new"}}'
    assert.strictEqual(definitionText(index(rest)), text)
    assert.strictEqual(definitionText(index({ ...rest, name: "town", unique: true })), text)
  })

  it("says which documents it contains, and which paths it reads", () => {
    const partial = partialIndex()
    const documents = [
      { tags: "new", a: { b: null } },
      { tags: ["old", "new"], "a.b": null }
    ]
    for (const document of documents) assert.isTrue(indexHolds(partial, document))
    for (const document of [{}, { tags: "new" }, { "a.b": null }, { tags: "new", a: { b: 0 } }]) {
      assert.isFalse(indexHolds(partial, document))
    }
    assert.isTrue(indexHolds(plainIndex("city"), {}))
    assert.deepStrictEqual(indexPaths(plainIndex("city")), ["city"])
    const overlapping = index({ fields: ["city", "age"], where: { age: 1, tags: "new" } })
    assert.deepStrictEqual(indexPaths(overlapping), ["city", "age", "tags"])
  })
})

describe("the path of a field", () => {
  const number = new LosslessNumber("1.0")
  const document = {
    "a.b": 1,
    a: { b: 2, c: { d: null }, "e.f": 3 },
    list: [{ x: 1 }],
    n: number
  } as unknown as LosslessObject

  it("is a whole name before steps, through objects alone", () => {
    const values: ReadonlyArray<readonly [string, unknown]> = [
      ["a.b", 1],
      ["a.c.d", null],
      ["a.c.x", undefined],
      ["a.e.f", undefined],
      ["list.0", undefined],
      ["list.length", undefined],
      ["n", number],
      ["n.text", undefined],
      ["a.constructor", undefined],
      ["", undefined]
    ]
    for (const [path, value] of values) {
      assert.strictEqual(valueAt(document, path), value)
      // What is picked gives the same values, in whatever order, and no other whole names.
      for (const paths of [values.map(([one]) => one), values.map(([one]) => one).reverse(), [path]]) {
        const picked = pickPaths(document, paths)
        assert.strictEqual(valueAt(picked, path), value)
        assert.isTrue(Object.keys(picked).every((name) => Object.hasOwn(document, name)))
      }
    }
  })

  it("that is refused is refused in words", () => {
    for (const [path, problem] of [
      [1, "the path of a field is text"],
      [undefined, "the path of a field is text"],
      ["", "the path of a field is not empty"],
      ["_id", "_id is part of every index, and not a field of one"],
      ["_id.a", undefined],
      ["a".repeat(512), undefined],
      ["a".repeat(513), "the path of a field has at most 512 characters"],
      [".".repeat(31), undefined],
      [".".repeat(32), "the path of a field has at most 32 steps"]
    ] as const)
      assert.strictEqual(fieldPathProblem(path), problem)
  })

  it("picks what is at several paths below one member, and the whole member where that is asked for", () => {
    const inner = Object.freeze({ b: Object.freeze({ c: 1, d: 2, e: 3 }), f: 4 })
    const nested: LosslessObject = Object.freeze({ a: inner, g: null, h: [1], i: "text" })
    const picked = (...paths: ReadonlyArray<string>) => JSON.parse(JSON.stringify(pickPaths(nested, paths)))
    assert.deepStrictEqual(picked("a.b.c", "a.b.d"), { a: { b: { c: 1, d: 2 } } })
    assert.deepStrictEqual(picked("a.b", "a.b.c"), { a: { b: { c: 1, d: 2, e: 3 } } })
    assert.deepStrictEqual(picked("a.b.c", "a.b"), { a: { b: { c: 1, d: 2, e: 3 } } })
    assert.deepStrictEqual(picked("a.b.c", "a"), { a: nested["a"] })
    assert.deepStrictEqual(picked("a.f", "a.b.c", "a.x", "x"), { a: { f: 4, b: { c: 1 } } })
    assert.deepStrictEqual(picked("g.x", "h.0", "i.length"), {})
  })
})

describe("files by hand", () => {
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  const textless = { toString: 1, valueOf: 1 }

  it("may list entries that are not text: they are skipped, or named", () => {
    const index = parseIndex(
      bytes({ values: { a: ["x", textless, ["y"], 7, null] }, ids: { x: [textless] } })
    )
    assert.deepStrictEqual(index?.values.get("a"), ["x", "7"])
    assert.deepStrictEqual(index?.ids.get("x"), [])
    assert.deepStrictEqual(parseManifestFile(bytes({ ids: ["x", textless] }))?.ids, ["x"])
    for (const given of [{ manifests: [textless] }, { indexes: { c: [textless] } }]) {
      assert.match(
        Either.getOrThrow(Either.flip(parseSettings(bytes({ format: 1, ...given })))),
        /manifests|indexes/
      )
    }
  })
})

describe("index keys", () => {
  it("are as the reference writes them", () => {
    const cases: ReadonlyArray<readonly [Json, string]> = [
      ["text", "text"],
      [1, "1"],
      [true, "true"],
      [null, "null"],
      [{ b: 1, a: [2, "é"] }, '{"a": [2, "é"], "b": 1}'],
      [-0, "-0.0"]
    ]
    for (const [value, key] of cases) assert.strictEqual(indexKeyOf(value), key)
    assert.deepStrictEqual(indexKeysOf(["a", "a", 1, []]), ["a", "1", "[]"])
    assert.deepStrictEqual(indexKeysOf([]), [])
    assert.deepStrictEqual(indexKeysOf(undefined), [])
    assert.deepStrictEqual(lookupKeys(1, new Map()), ["1", "1.0"])
    assert.isUndefined(lookupKeys([], new Map()))
  })

  const json = FastCheck.jsonValue({ maxDepth: 2 }) as FastCheck.Arbitrary<Json>

  it("lead to every document that matches", () =>
    FastCheck.assert(
      FastCheck.property(FastCheck.array(json, { maxLength: 8 }), json, (fields, stray) => {
        const changes = fields.map((f, at) => ({ id: `d${at}`, document: { f } }))
        const index = applyToIndex(emptyIndex, "f", changes)
        for (const value of [
          ...fields,
          ...fields.flatMap((f) => (Array.isArray(f) ? (f as Array<Json>) : [])),
          stray
        ]) {
          const matching = changes
            .filter(({ document }) => fieldMatches(document.f, value))
            .map(({ id }) => id)
          const keys = lookupKeys(value, index.values)
          if (keys === undefined) continue
          const found = new Set(keys.flatMap((key) => index.values.get(key) ?? []))
          for (const id of matching) assert.isTrue(found.has(id))
        }
      })
    ))

  it("of an index that followed changes equal those of a rebuild", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.tuple(FastCheck.integer({ min: 0, max: 4 }), FastCheck.option(json)), {
          maxLength: 20
        }),
        (steps) => {
          let index = emptyIndex
          const documents = new Map<string, { readonly f: Json }>()
          for (const [at, f] of steps) {
            const id = `d${at}`
            if (f === null) documents.delete(id)
            else documents.set(id, { f })
            index = applyToIndex(index, "f", [{ id, document: documents.get(id) }])
          }
          const all = [...documents].map(([id, document]) => ({ id, document }))
          const rebuilt = applyToIndex(emptyIndex, "f", all)
          const print = (each: typeof index) =>
            Either.getOrThrow(printIndex(each, "c", "f", "now", emptyTree))
          assert.deepStrictEqual(print(index), print(rebuilt))
          assert.deepStrictEqual(parseIndex(print(index))?.values.size, rebuilt.values.size)
        }
      )
    ))

  it("equality is deep and typed", () => {
    assert.isTrue(equalJson({ a: [1, null] }, { a: [1, null] }))
    assert.isFalse(equalJson({ a: undefined } as never, { b: 1 }))
    for (const [a, b] of [
      [1, "1"],
      [true, "true"],
      [null, "null"],
      [[1], [1, 2]],
      [{}, []]
    ] as const) {
      assert.isFalse(equalJson(a as Json, b as Json))
    }
    assert.isTrue(fieldMatches(["a", 1], 1))
    assert.isFalse(fieldMatches(["1"], 1))
    assert.isTrue(fieldMatches([1, 2], [1, 2]))
    assert.isFalse(fieldMatches(undefined, null))
  })
})
